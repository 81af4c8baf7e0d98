import type { Connection } from '../api/stream'
import { formatCount } from '../core/format'
import { DRIFT, FAILURES, formatRoute, HOME, RECORD, type View } from '../core/route'
import { AsOfChoice } from './AsOfChoice'
import { usePage } from './page'
import { Search } from './search/Search'
import { useLoaded } from './useLoaded'
import { useSlowly } from './useSlowly'

interface HeaderProps {
  readonly view: View
  readonly connection: Connection | undefined
  /** Jobs that the graph does not list. */
  readonly unlisted: number
}

export function Header({ view, connection, unlisted }: HeaderProps) {
  const { asOf } = usePage()
  return (
    <header className="top">
      <h1>
        <a className="brand" title="Show the whole graph" href={formatRoute(HOME)}>
          <Mark />
          Headwater
        </a>
      </h1>
      <Views view={view} />
      <Search />
      {view === 'graph' && unlisted > 0 && (
        <p className="unlisted">{formatCount(unlisted)} more jobs are not drawn; search finds them.</p>
      )}
      <AsOfChoice />
      {asOf === undefined && <ConnectionLight connection={connection} />}
    </header>
  )
}

const VIEWS = [
  [HOME, 'Graph'],
  [FAILURES, 'Failures'],
  [DRIFT, 'Schema changes'],
  [RECORD, 'Record'],
] as const

function Views({ view }: Pick<HeaderProps, 'view'>) {
  const failed = useFailedCount()
  return (
    <nav aria-label="Views">
      <ul className="views">
        {VIEWS.map(([route, word]) => (
          <li key={route.view}>
            <a href={formatRoute(route)} aria-current={route.view === view ? 'page' : undefined}>
              <span className="view-word" data-word={word}>
                {word}
              </span>{' '}
              {route === FAILURES && failed > 0 && (
                <span className="badge" data-mark="bad">
                  {formatCount(failed)}
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** How many jobs failed last. */
function useFailedCount(): number {
  const { client, revision } = usePage()
  const found = useLoaded('failed', useSlowly(revision, COUNT_MS), () => client.failedJobs(0))
  return found.state === 'ready' ? found.value.totalCount : 0
}

/** Counting looks at every job. */
const COUNT_MS = 15_000

const WORDS: Readonly<Record<Connection, string>> = {
  live: 'live',
  polling: 'asking every second',
  lost: 'no connection',
}

function ConnectionLight({ connection }: Pick<HeaderProps, 'connection'>) {
  return (
    <p
      className="connection"
      role="status"
      data-connection={connection}
      title={
        connection === 'lost' ? 'Shown is what was last known; the page asks again by itself.' : undefined
      }
    >
      <span className="connection-dot" />
      {connection ? WORDS[connection] : 'connecting'}
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
