import { useState } from 'react'
import { beginningOf } from '../core/beginning'

/** What somebody wrote; of a long text the beginning, and a way to the rest. */
export function LongText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false)
  const beginning = beginningOf(text)
  if (beginning === text) return <p>{text}</p>
  return (
    <div>
      <p>{isWhole ? text : `${beginning}…`}</p>
      <button type="button" className="link" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
        {isWhole ? 'Show less' : 'Show all of it'}
      </button>
    </div>
  )
}
