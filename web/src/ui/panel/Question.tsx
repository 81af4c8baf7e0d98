import { type ReactNode, useState } from 'react'
import { Unbroken } from '../Unbroken'

interface QuestionProps {
  readonly asked: string
  readonly children: ReactNode
}

/** A question whose answer is worked out only when somebody opens it. */
export function Question({ asked, children }: QuestionProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="question" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{asked}</summary>
      {isOpen && <Unbroken>{children}</Unbroken>}
    </details>
  )
}
