import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { isUnavailable } from '../api/client'
import { coalesced } from '../api/coalesced'
import { failed, LOADING, type Loadable, ready } from '../core/loadable'

/** Long enough not to overload a service that is coming back. */
const RETRY_MS = 3_000

/**
 * The result of `load` for `subject`, reloaded with each `revision`; without a subject nothing is loaded. The old value
 * stays until the new one has arrived, and while the service is unavailable: then `load` is retried until it succeeds.
 * There is only one load per subject at a time: if the revision grows meanwhile, its result is shown and `load` is called
 * again. `signal` aborts a load whose result is no longer needed.
 */
export function useLoaded<T>(
  subject: string | undefined,
  revision: number,
  load: (signal: AbortSignal) => Promise<T>,
): Loadable<T> {
  const [loaded, setLoaded] = useState<{ subject: string; value: Loadable<T> }>()
  const fetchNow = useEffectEvent(load)
  const reload = useRef<() => void>(undefined)

  useEffect(() => {
    if (subject === undefined) return
    const abort = new AbortController()
    let retry: ReturnType<typeof setTimeout> | undefined
    const settle = (value: Loadable<T>, isLastResort = false) => {
      if (abort.signal.aborted) return
      setLoaded((last) =>
        isLastResort && last?.subject === subject && last.value.state === 'ready' ? last : { subject, value },
      )
    }
    reload.current = coalesced(async () => {
      clearTimeout(retry)
      if (abort.signal.aborted) return
      await fetchNow(abort.signal).then(
        (value) => settle(ready(value)),
        (error: unknown) => {
          settle(failed(error), isUnavailable(error))
          // Nothing else would retry: the stream may still be open, and a page about the past has none.
          if (isUnavailable(error) && !abort.signal.aborted)
            retry = setTimeout(() => reload.current?.(), RETRY_MS)
        },
      )
    })
    return () => {
      clearTimeout(retry)
      reload.current = undefined
      abort.abort()
    }
  }, [subject])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject or a new revision is the reason to load
  useEffect(() => reload.current?.(), [subject, revision])

  return loaded?.subject === subject && loaded ? loaded.value : LOADING
}
