import { useEffect, useState } from 'react'
import { usePage } from './page'

/** The time that is shown, a second at most behind while `isTicking`. */
export function useNow(isTicking: boolean): Date {
  const { asOf } = usePage()
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    if (!isTicking || asOf !== undefined) return
    const timer = setInterval(() => setNow(new Date()), 1_000)
    return () => clearInterval(timer)
  }, [isTicking, asOf])
  return asOf === undefined ? now : new Date(asOf)
}
