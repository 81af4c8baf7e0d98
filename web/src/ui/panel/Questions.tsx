import type { Named, NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import { ChangesAnswer } from './ChangesAnswer'
import { ImpactAnswer } from './ImpactAnswer'
import { ProofAnswer } from './ProofAnswer'
import { Question } from './Question'
import { RootCauseAnswer } from './RootCauseAnswer'

interface QuestionsProps {
  readonly dataset: NodeId
  readonly named: Named
  /** The column that the questions are about, if one is chosen. */
  readonly column: string | undefined
}

/** The questions that the service answers about a dataset or column. */
export function Questions({ dataset, named, column }: QuestionsProps) {
  const it = column === undefined ? 'it' : isolated(column)
  return (
    <section className="questions" aria-label="Questions">
      <Question of="why" text={`Why might ${it} be wrong?`}>
        <RootCauseAnswer node={dataset} column={column} />
      </Question>
      <Question of="changes" text="What changed?">
        <ChangesAnswer node={dataset} />
      </Question>
      <Question of="impact" text={`What depends on ${it}?`}>
        <ImpactAnswer dataset={dataset} column={column} />
      </Question>
      <Question of="proof" text={`Can I prove where ${it} comes from?`}>
        <ProofAnswer dataset={named} column={column} />
      </Question>
    </section>
  )
}
