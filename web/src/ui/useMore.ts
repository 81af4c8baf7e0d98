import { useState } from 'react'

/** How many items are shown at first; each request for more multiplies that by `TIMES_MORE`, at most. */
const FIRST = 10
const TIMES_MORE = 5
/** Adding more items than this at once would block the browser noticeably. */
const MAX_MORE = 500

export interface More {
  /** How many are shown now. */
  readonly count: number
  /** How many are shown once `show` is called. */
  readonly next: number
  readonly show: () => void
}

/** How many items of a long list are shown, and how to show more. */
export function useMore(first = FIRST): More {
  const [count, setCount] = useState(first)
  const next = Math.min(count * TIMES_MORE, count + MAX_MORE)
  return { count, next, show: () => setCount(next) }
}
