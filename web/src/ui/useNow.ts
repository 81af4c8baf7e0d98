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

/** The time that is shown: another one as soon as the moment has passed, if there is one. */
export function useNowPast(moment: string | null | undefined): Date {
  const { asOf } = usePage()
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const until = moment ? Date.parse(moment) : Number.NaN
    if (asOf !== undefined || !(until >= now.getTime())) return
    const wait = Math.max(0, until - Date.now()) + 1
    const timer = setTimeout(() => setNow(new Date()), Math.min(wait, MOST_MS))
    return () => clearTimeout(timer)
  }, [moment, now, asOf])
  return asOf === undefined ? now : new Date(asOf)
}

/** A timer waits no longer. */
const MOST_MS = 2 ** 31 - 1
