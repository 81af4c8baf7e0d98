import type { ReactNode } from 'react'
import type { Question as Asked } from '../../core/route'
import { usePage } from '../page'
import { Unbroken } from '../Unbroken'

interface QuestionProps {
  readonly of: Asked
  readonly words: string
  readonly children: ReactNode
}

/** A question whose answer is worked out only when somebody opens it; the address keeps which are open. */
export function Question({ of, words, children }: QuestionProps) {
  const { asked, ask } = usePage()
  const isOpen = asked.includes(of)
  return (
    <details
      className="question"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isOpen) ask(of, currentTarget.open)
      }}
    >
      <summary>{words}</summary>
      {isOpen && <Unbroken>{children}</Unbroken>}
    </details>
  )
}
