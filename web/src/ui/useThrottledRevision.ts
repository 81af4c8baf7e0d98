import { useEffect, useEffectEvent, useState } from 'react'

/**
 * `revision`, throttled to one change per `everyMs`, so that expensive answers are not requested on each event. A change
 * of the subject gives the newest revision at once.
 */
export function useThrottledRevision(revision: number, everyMs = 5_000, subject?: string): number {
  const [taken, setTaken] = useState({ subject, revision })
  const isOther = taken.subject !== subject
  if (isOther) setTaken({ subject, revision })
  const isBehind = taken.revision !== revision
  const takeNewest = useEffectEvent(() => setTaken({ subject, revision }))
  useEffect(() => {
    if (!isBehind) return
    const timer = setTimeout(() => takeNewest(), everyMs)
    return () => clearTimeout(timer)
  }, [isBehind, everyMs])
  return isOther ? revision : taken.revision
}
