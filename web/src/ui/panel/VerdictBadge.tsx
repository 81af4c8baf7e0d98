import type { Verdict } from '../../api/types'
import { VERDICT_MARK, VERDICT_MEANING, VERDICT_WORDS } from '../../core/runs'

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return (
    <span className="badge" data-mark={VERDICT_MARK[verdict]} title={VERDICT_MEANING[verdict]}>
      {VERDICT_WORDS[verdict]}
    </span>
  )
}
