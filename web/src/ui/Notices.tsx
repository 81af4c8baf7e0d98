import { CATALOG, formatRoute } from '../core/route'
import { counted } from '../core/wording'
import { usePage } from './page'

export function LoadingNotice() {
  return (
    <p className="notice" role="status">
      Loading lineage…
    </p>
  )
}

interface FailureNoticeProps {
  readonly message: string
  /** Whether there will be no retry. */
  readonly isFatal: boolean
}

export function FailureNotice({ message, isFatal }: FailureNoticeProps) {
  return (
    <div className="notice" role="alert">
      <h2>No lineage to show</h2>
      <p>{message}</p>
      {!isFatal && <p className="muted">The page retries every second.</p>}
      <BackToNow />
    </div>
  )
}

/** A note over the graph if it does not hold all jobs. */
export function Unlisted({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <p className="unlisted">
      {counted(count, 'more job')} {count === 1 ? 'is' : 'are'} not drawn; search and the{' '}
      <a href={formatRoute(CATALOG)}>catalog</a> find {count === 1 ? 'it' : 'them'}.
    </p>
  )
}

/** A button to show the present; nothing if the page already does. */
export function BackToNow() {
  const { asOf, showAsOf } = usePage()
  if (asOf === undefined) return null
  return (
    <button type="button" className="link" onClick={() => showAsOf(undefined)}>
      Back to now
    </button>
  )
}

export function EmptyNotice() {
  const { asOf } = usePage()
  if (asOf !== undefined) {
    return (
      <div className="notice" role="status">
        <p>There are no events of that time or before.</p>
        <BackToNow />
      </div>
    )
  }
  const endpoint = new URL('api/v1/lineage', document.baseURI)
  return (
    <div className="notice" role="status">
      <h2>No events yet</h2>
      <p>
        Post OpenLineage events to <code>{endpoint.href}</code>
        <br />
        or run <code>make demo</code>. The graph then appears here by itself.
      </p>
    </div>
  )
}
