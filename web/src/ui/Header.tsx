import { useState } from 'react'
import type { Connection } from '../api/stream'
import { formatCount } from '../core/format'
import { CATALOG, DRIFT, FAILURES, formatRoute, HOME, RECORD, type Route, type View } from '../core/route'
import { counted } from '../core/wording'
import { AsOfChoice } from './AsOfChoice'
import { usePage } from './page'
import { SkipLink } from './SkipLink'
import { Search } from './search/Search'
import { useLoaded } from './useLoaded'
import { useThrottledRevision } from './useThrottledRevision'
import { useTicks } from './useTicks'

interface HeaderProps {
  readonly route: Route
  readonly connection: Connection | undefined
  /** Whether the last request for changes failed, even if the stream is open. */
  readonly isBehind: boolean
}

export function Header({ route, connection, isBehind }: HeaderProps) {
  const { asOf } = usePage()
  return (
    <header className="top">
      <SkipLink route={route} />
      <h1>
        <a className="brand" title="Show the whole graph" href={formatRoute(HOME)}>
          <Mark />
          Headwater
        </a>
      </h1>
      <Views view={route.view} />
      <Search />
      <AsOfChoice />
      {asOf === undefined && (
        <ConnectionStatus status={isBehind && connection !== 'lost' ? 'behind' : connection} />
      )}
    </header>
  )
}

const VIEWS = [
  [HOME, 'Graph'],
  [CATALOG, 'Catalog'],
  [FAILURES, 'Failures'],
  [DRIFT, 'Schema changes'],
  [RECORD, 'Record'],
] as const

function Views({ view }: { view: View }) {
  const failures = useFailureCount()
  const news = useNews(failures)
  return (
    <nav aria-label="Views">
      <ul className="views">
        {VIEWS.map(([route, word]) => (
          <li key={route.view}>
            <a href={formatRoute(route)} aria-current={isWithin(view, route.view) ? 'page' : undefined}>
              <span className="view-word" data-word={word}>
                {word}
              </span>{' '}
              {route === FAILURES && failures !== undefined && failures > 0 && (
                <span className="badge" data-mark="bad">
                  {formatCount(failures)}
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <p className="spoken" role="status">
        {news}
      </p>
    </nav>
  )
}

/** Entries belong to the record. */
function isWithin(view: View, listed: View): boolean {
  return view === listed || (view === 'entry' && listed === 'record')
}

/** The number of failed jobs and silent streams. Also refreshed by time: a stream goes silent without an event. */
function useFailureCount(): number | undefined {
  const { client, revision } = usePage()
  const version = useThrottledRevision(revision, COUNT_MS) + useTicks(COUNT_MS)
  const found = useLoaded('failures', version, () => client.failureCount())
  return found.state === 'ready' ? found.value : undefined
}

/** Announces new failures; not those that existed when the page was opened. */
function useNews(failures: number | undefined): string {
  const [known, setKnown] = useState(failures)
  const [news, setNews] = useState('')
  if (failures !== known) {
    setKnown(failures)
    setNews(newsOf(known, failures))
  }
  return news
}

function newsOf(known: number | undefined, failures: number | undefined): string {
  if (known === undefined || failures === undefined || failures <= known) return ''
  return `${counted(failures - known, 'new failure')}, ${formatCount(failures)} in all`
}

/** Long, since counting reads every job. */
const COUNT_MS = 15_000

type Status = Connection | 'behind'

const STATUS_LABELS: Readonly<Record<Status, string>> = {
  live: 'live',
  polling: 'polling every second',
  lost: 'no connection',
  behind: 'out of date',
}

const STATUS_MEANING: Readonly<Partial<Record<Status, string>>> = {
  lost: 'The page shows the last known state, and retries by itself.',
  behind: 'The last update failed. The page shows the last known state, and retries by itself.',
}

function ConnectionStatus({ status }: { status: Status | undefined }) {
  return (
    <p className="connection" role="status" data-connection={status} title={status && STATUS_MEANING[status]}>
      <span className="connection-dot" />
      {status ? STATUS_LABELS[status] : 'connecting'}
    </p>
  )
}

function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M5 8.5c6 0 7 7.5 12 7.5h10M5 16h22M5 23.5c6 0 7-7.5 12-7.5" />
    </svg>
  )
}
