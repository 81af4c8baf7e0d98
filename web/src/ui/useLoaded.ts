import { useEffect, useEffectEvent, useState } from 'react'
import { isAway } from '../api/client'
import { failed, LOADING, type Loadable, ready } from '../core/loadable'

/**
 * What `load` gives for `subject`, loaded anew with each `revision`; the old value stays until the new one is here, and
 * while the service is away: the header says so, and all is asked again once it is back.
 * Without a subject nothing is loaded; `signal` ends what nobody waits for any more.
 */
export function useLoaded<T>(
  subject: string | undefined,
  revision: number,
  load: (signal: AbortSignal) => Promise<T>,
): Loadable<T> {
  const [loaded, setLoaded] = useState<{ subject: string; value: Loadable<T> }>()
  const fetchNow = useEffectEvent(load)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision is the reason to load again
  useEffect(() => {
    if (subject === undefined) return
    let isWanted = true
    const settle = (value: Loadable<T>, isLastResort = false) => {
      if (!isWanted) return
      setLoaded((last) =>
        isLastResort && last?.subject === subject && last.value.state === 'ready' ? last : { subject, value },
      )
    }
    const unwanted = new AbortController()
    fetchNow(unwanted.signal).then(
      (value) => settle(ready(value)),
      (error: unknown) => settle(failed(error), isAway(error)),
    )
    return () => {
      isWanted = false
      unwanted.abort()
    }
  }, [subject, revision])

  return loaded?.subject === subject && loaded ? loaded.value : LOADING
}
