import { type ReactNode, useState } from 'react'
import type { NodeId } from '../../core/ids'
import { Unbroken } from '../Unbroken'
import { ImpactAnswer } from './ImpactAnswer'
import { RootCauseAnswer } from './RootCauseAnswer'

interface QuestionsProps {
  readonly dataset: NodeId
  /** Asked about this column, where one is chosen. */
  readonly column: string | undefined
}

/** What is worked out only when somebody asks. */
export function Questions({ dataset, column }: QuestionsProps) {
  const it = column ?? 'it'
  return (
    <section className="questions" aria-label="Questions">
      <Question asked={`Why might ${it} be wrong?`}>
        <RootCauseAnswer dataset={dataset} column={column} />
      </Question>
      <Question asked={`What hangs on ${it}?`}>
        <ImpactAnswer dataset={dataset} column={column} />
      </Question>
    </section>
  )
}

function Question({ asked, children }: { asked: string; children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="question" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{asked}</summary>
      {isOpen && <Unbroken>{children}</Unbroken>}
    </details>
  )
}
