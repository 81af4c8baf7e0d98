import type { Connection } from '../api/stream'
import { formatCount } from '../core/format'
import { usePage } from './page'
import { Search } from './search/Search'

interface HeaderProps {
  readonly connection: Connection | undefined
  /** Jobs that the graph does not list. */
  readonly unlisted: number
}

export function Header({ connection, unlisted }: HeaderProps) {
  const { leave } = usePage()
  return (
    <header className="top">
      <h1>
        <button type="button" className="brand" title="Show the whole graph" onClick={leave}>
          <Mark />
          Headwater
        </button>
      </h1>
      <Search />
      {unlisted > 0 && (
        <p className="unlisted">{formatCount(unlisted)} more jobs are not drawn; search finds them.</p>
      )}
      <ConnectionLight connection={connection} />
    </header>
  )
}

const WORDS: Readonly<Record<Connection, string>> = {
  live: 'live',
  polling: 'asking every second',
  lost: 'no connection',
}

function ConnectionLight({ connection }: Pick<HeaderProps, 'connection'>) {
  return (
    <p className="connection" role="status" data-connection={connection}>
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
