import { useEffect, useEffectEvent, useState } from 'react'
import { failed, LOADING, type Loadable, ready } from '../core/loadable'

/**
 * What `load` gives for `subject`, loaded anew with each `revision`; the old value stays until the new one is here.
 * Without a subject nothing is loaded.
 */
export function useLoaded<T>(
  subject: string | undefined,
  revision: number,
  load: () => Promise<T>,
): Loadable<T> {
  const [loaded, setLoaded] = useState<{ subject: string; value: Loadable<T> }>()
  const fetchNow = useEffectEvent(load)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision is the reason to load again
  useEffect(() => {
    if (subject === undefined) return
    let isWanted = true
    const settle = (value: Loadable<T>) => {
      if (isWanted) setLoaded({ subject, value })
    }
    fetchNow().then(
      (value) => settle(ready(value)),
      (error: unknown) => settle(failed(error)),
    )
    return () => {
      isWanted = false
    }
  }, [subject, revision])

  return loaded?.subject === subject && loaded ? loaded.value : LOADING
}
