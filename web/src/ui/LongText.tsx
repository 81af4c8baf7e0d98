import { useState } from 'react'
import { excerptOf } from '../core/excerpt'

/** A text; of a long one an excerpt, with a button to show the rest. */
export function LongText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false)
  const excerpt = excerptOf(text)
  if (excerpt === text) return <p>{text}</p>
  return (
    <div>
      <p>{isWhole ? text : `${excerpt}…`}</p>
      <button type="button" className="link" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
        {isWhole ? 'Show less' : 'Show all of it'}
      </button>
    </div>
  )
}
