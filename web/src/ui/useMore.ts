import { useState } from 'react'

/** As many are looked through at once; each time more are asked for, there are so many times as many, at most. */
const FIRST = 10
const TIMES_MORE = 5
/** More than this at once keep the browser from all else for longer than one notices. */
const MOST_MORE = 500

export interface More {
  /** How many are shown now. */
  readonly count: number
  /** How many are shown once `show` is called. */
  readonly next: number
  readonly show: () => void
}

/** How many of a long list are shown, as the reader wants more of it. */
export function useMore(first = FIRST): More {
  const [count, setCount] = useState(first)
  const next = Math.min(count * TIMES_MORE, count + MOST_MORE)
  return { count, next, show: () => setCount(next) }
}
