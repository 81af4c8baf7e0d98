import type { Verdict } from '../../api/types'
import { VERDICT_MEANING, VERDICT_WORDS } from '../../core/runs'

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return (
    <span className="verdict" data-verdict={verdict} title={VERDICT_MEANING[verdict]}>
      {VERDICT_WORDS[verdict]}
    </span>
  )
}
