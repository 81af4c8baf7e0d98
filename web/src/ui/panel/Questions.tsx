import type { NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import { ChangesAnswer } from './ChangesAnswer'
import { ImpactAnswer } from './ImpactAnswer'
import { Question } from './Question'
import { RootCauseAnswer } from './RootCauseAnswer'

interface QuestionsProps {
  readonly dataset: NodeId
  /** Asked about this column, where one is chosen. */
  readonly column: string | undefined
}

/** What is worked out only when somebody asks. */
export function Questions({ dataset, column }: QuestionsProps) {
  const it = column === undefined ? 'it' : isolated(column)
  return (
    <section className="questions" aria-label="Questions">
      <Question of="why" words={`Why might ${it} be wrong?`}>
        <RootCauseAnswer dataset={dataset} column={column} />
      </Question>
      <Question of="changes" words="What changed?">
        <ChangesAnswer node={dataset} />
      </Question>
      <Question of="impact" words={`What depends on ${it}?`}>
        <ImpactAnswer dataset={dataset} column={column} />
      </Question>
    </section>
  )
}
