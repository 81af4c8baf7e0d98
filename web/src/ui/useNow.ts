import { useEffect, useState } from 'react'
import { usePage } from './page'

/** The current time, updated each second while `isTicking`; on a page about the past that time. */
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

/** The current time, updated as soon as `moment` has passed; on a page about the past that time. */
export function useNowUpdatedAt(moment: string | null | undefined): Date {
  const { asOf } = usePage()
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const until = moment ? Date.parse(moment) : Number.NaN
    if (asOf !== undefined || !(until >= now.getTime())) return
    const wait = Math.max(0, until - Date.now()) + 1
    const timer = setTimeout(() => setNow(new Date()), Math.min(wait, MAX_TIMEOUT_MS))
    return () => clearTimeout(timer)
  }, [moment, now, asOf])
  return asOf === undefined ? now : new Date(asOf)
}

/** The limit of `setTimeout`. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1
