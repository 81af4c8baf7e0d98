import type { Verdict } from '../../api/types'
import { VERDICT_LABELS, VERDICT_MARKS, VERDICT_MEANING } from '../../core/runs'

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return (
    <span className="badge" data-mark={VERDICT_MARKS[verdict]} title={VERDICT_MEANING[verdict]}>
      {VERDICT_LABELS[verdict]}
    </span>
  )
}
