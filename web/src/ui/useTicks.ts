import { useEffect, useState } from 'react'
import { usePage } from './page'

/** Grows every so often while somebody looks: what goes silent tells nothing, so no event makes an answer stale. */
export function useTicks(everyMs = 20_000): number {
  const { asOf } = usePage()
  const [ticks, setTicks] = useState(0)
  useEffect(() => {
    if (asOf !== undefined) return
    const tick = () => {
      if (document.visibilityState === 'visible') setTicks((last) => last + 1)
    }
    const timer = setInterval(tick, everyMs)
    document.addEventListener('visibilitychange', tick) // who comes back does not wait
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [asOf, everyMs])
  return ticks
}
