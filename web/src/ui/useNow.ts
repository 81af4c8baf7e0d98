import { useEffect, useState } from 'react'

/** The time, a second at most behind while `isTicking`. */
export function useNow(isTicking: boolean): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    if (!isTicking) return
    const timer = setInterval(() => setNow(new Date()), 1_000)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}
