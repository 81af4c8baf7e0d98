import type { ReactNode } from 'react'
import type { Question as QuestionKind } from '../../core/route'
import { ErrorBoundary } from '../ErrorBoundary'
import { usePage } from '../page'

interface QuestionProps {
  readonly of: QuestionKind
  readonly text: string
  readonly children: ReactNode
}

/** A question whose answer is requested only once it is opened; the address keeps which are open. */
export function Question({ of, text, children }: QuestionProps) {
  const { openQuestions, toggleQuestion } = usePage()
  const isOpen = openQuestions.includes(of)
  return (
    <details
      className="question"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isOpen) toggleQuestion(of, currentTarget.open)
      }}
    >
      <summary>{text}</summary>
      {isOpen && <ErrorBoundary>{children}</ErrorBoundary>}
    </details>
  )
}
