import type { RunError } from '../../core/facets'
import { LongText } from '../LongText'

export function RunErrorText({ error: { message, reason, stackTrace } }: { error: RunError }) {
  return (
    <div className="run-error">
      <LongText text={message} />
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
