import { useEffect, useState } from 'react'
import { usePage } from './page'

/** Grows every `everyMs` while the page is visible, to refresh answers that depend on time: silence causes no event. */
export function useTicks(everyMs = 20_000): number {
  const { asOf } = usePage()
  const [ticks, setTicks] = useState(0)
  useEffect(() => {
    if (asOf !== undefined) return
    const tick = () => {
      if (document.visibilityState === 'visible') setTicks((last) => last + 1)
    }
    const timer = setInterval(tick, everyMs)
    document.addEventListener('visibilitychange', tick) // refreshes at once when the reader comes back
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [asOf, everyMs])
  return ticks
}
