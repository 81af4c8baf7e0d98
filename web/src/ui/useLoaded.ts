import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { isAway } from '../api/client'
import { coalesced } from '../api/coalesced'
import { failed, LOADING, type Loadable, ready } from '../core/loadable'

/** Long enough that a service which comes back is not held up by those who wait for it. */
const RETRY_MS = 3_000

/**
 * What `load` gives for `subject`, loaded anew with each `revision`; the old value stays until the new one is here, and
 * while the service is away: it is asked again until it answers. Of one subject nothing is asked twice at a time: what is
 * on its way when the revision moves on is shown when it comes, and asked for again then.
 * Without a subject nothing is loaded; `signal` ends what nobody waits for any more.
 */
export function useLoaded<T>(
  subject: string | undefined,
  revision: number,
  load: (signal: AbortSignal) => Promise<T>,
): Loadable<T> {
  const [loaded, setLoaded] = useState<{ subject: string; value: Loadable<T> }>()
  const fetchNow = useEffectEvent(load)
  const ask = useRef<() => void>(undefined)

  useEffect(() => {
    if (subject === undefined) return
    const unwanted = new AbortController()
    let retry: ReturnType<typeof setTimeout> | undefined
    const settle = (value: Loadable<T>, isLastResort = false) => {
      if (unwanted.signal.aborted) return
      setLoaded((last) =>
        isLastResort && last?.subject === subject && last.value.state === 'ready' ? last : { subject, value },
      )
    }
    ask.current = coalesced(async () => {
      clearTimeout(retry)
      if (unwanted.signal.aborted) return
      await fetchNow(unwanted.signal).then(
        (value) => settle(ready(value)),
        (error: unknown) => {
          settle(failed(error), isAway(error))
          // The stream may have outlived it, and a past has none: nothing else would ask again.
          if (isAway(error) && !unwanted.signal.aborted) retry = setTimeout(() => ask.current?.(), RETRY_MS)
        },
      )
    })
    return () => {
      clearTimeout(retry)
      ask.current = undefined
      unwanted.abort()
    }
  }, [subject])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject or a new revision is the reason to load
  useEffect(() => ask.current?.(), [subject, revision])

  return loaded?.subject === subject && loaded ? loaded.value : LOADING
}
