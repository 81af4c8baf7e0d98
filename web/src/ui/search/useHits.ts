import { useEffect, useMemo, useState } from 'react'
import type { SearchResult } from '../../api/types'
import { failed, LOADING, type Loadable, ready } from '../../core/loadable'
import { addFound, type Hit, searchGraph, textForService } from '../../core/search'
import { usePage } from '../page'

const MAX_HITS = 12
const PAUSE_MS = 120

export interface Hits {
  readonly hits: readonly Hit[]
  /** The state of the service's search; hits in the graph are listed regardless. */
  readonly answer: Loadable<unknown>['state']
}

/** Hits in the graph at once, the service's after a pause in typing. */
export function useHits(text: string): Hits {
  const { client, graph } = usePage()
  const [found, setFound] = useState<{ text: string; results: Loadable<readonly SearchResult[]> }>()

  useEffect(() => {
    if (text.trim() === '') return
    const abort = new AbortController()
    const search = async () => {
      const results = await client.search(textForService(text), MAX_HITS, abort.signal).then(ready, failed)
      if (!abort.signal.aborted) setFound({ text, results })
    }
    const timer = setTimeout(search, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [client, text])

  return useMemo(() => {
    const own = searchGraph(graph, text, MAX_HITS)
    const results = found?.text === text ? found.results : LOADING
    const more = results.state === 'ready' ? results.value : []
    return { hits: addFound(own, more).slice(0, MAX_HITS), answer: results.state }
  }, [graph, text, found])
}
