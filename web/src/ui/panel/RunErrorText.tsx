import type { RunError } from '../../core/facets'

export function RunErrorText({ error: { message, reason, stackTrace } }: { error: RunError }) {
  return (
    <div className="run-error">
      <p>{message}</p>
      {reason && <p>{reason}</p>}
      {stackTrace && (
        <details>
          <summary>Stack trace</summary>
          <pre>{stackTrace}</pre>
        </details>
      )}
    </div>
  )
}
