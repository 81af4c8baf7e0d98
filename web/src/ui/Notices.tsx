import { usePage } from './page'

export function LoadingNotice() {
  return (
    <p className="notice" role="status">
      Loading lineage…
    </p>
  )
}

export function FailureNotice({ message }: { message: string }) {
  return (
    <div className="notice" role="alert">
      <h2>No lineage to show</h2>
      <p>{message}</p>
      <p className="muted">The page asks again every second.</p>
    </div>
  )
}

export function EmptyNotice() {
  const { asOf } = usePage()
  if (asOf !== undefined)
    return <p className="notice">Nothing had happened by then, as far as events tell.</p>
  const endpoint = new URL('api/v1/lineage', document.baseURI)
  return (
    <div className="notice" role="status">
      <h2>No events yet</h2>
      <p>
        Post OpenLineage events to <code>{endpoint.href}</code>
        <br />
        or run <code>make demo</code>. The graph appears here by itself.
      </p>
    </div>
  )
}
