import { useState } from 'react'

interface CopyButtonProps {
  /** What is copied: `digest`. */
  readonly what: string
  readonly text: string
}

/** Absent without `navigator.clipboard`, which browsers offer only over HTTPS or from localhost. */
export function CopyButton({ what, text }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false)
  if (!navigator.clipboard) return null
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    )
  return (
    <button type="button" className="link copy" aria-label={`Copy the ${what}`} onClick={copy}>
      {isCopied ? 'copied' : 'copy'}
    </button>
  )
}
