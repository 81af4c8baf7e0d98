import type { RunError } from '../../core/facets'

export function RunErrorText({ error: { message, stackTrace } }: { error: RunError }) {
  return (
    <div className="run-error">
      <p>{message}</p>
      {stackTrace && (
        <details>
          <summary>Stack trace</summary>
          <pre>{stackTrace}</pre>
        </details>
      )}
    </div>
  )
}
