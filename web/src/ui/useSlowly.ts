import { useEffect, useEffectEvent, useState } from 'react'

/**
 * `revision`, `everyMs` behind at most: what is answered about much is not asked for with each event. Of another
 * subject it is the newest at once.
 */
export function useSlowly(revision: number, everyMs = 5_000, subject?: string): number {
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
