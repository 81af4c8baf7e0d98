import { useEffect, useEffectEvent, useState } from 'react'

/** `revision`, `everyMs` behind at most: what is answered about much is not asked for with each event. */
export function useSlowly(revision: number, everyMs = 5_000): number {
  const [taken, setTaken] = useState(revision)
  const isBehind = taken !== revision
  const takeNewest = useEffectEvent(() => setTaken(revision))
  useEffect(() => {
    if (!isBehind) return
    const timer = setTimeout(() => takeNewest(), everyMs)
    return () => clearTimeout(timer)
  }, [isBehind, everyMs])
  return taken
}
