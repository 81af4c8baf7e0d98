import { useEffect, useMemo, useState } from 'react'
import type { SearchResult } from '../../api/types'
import { failed, LOADING, type Loadable, ready } from '../../core/loadable'
import { addFound, type Hit, searchGraph, textForService } from '../../core/search'
import { usePage } from '../page'

const MOST_HITS = 12
const PAUSE_MS = 120

export interface Hits {
  readonly hits: readonly Hit[]
  /** How the service answered; what the graph holds is among the hits anyway. */
  readonly answer: Loadable<unknown>['state']
}

/** The graph's own hits at once, the service's after a pause in the typing. */
export function useHits(text: string): Hits {
  const { client, graph } = usePage()
  const [found, setFound] = useState<{ text: string; results: Loadable<readonly SearchResult[]> }>()

  useEffect(() => {
    if (text.trim() === '') return
    const abort = new AbortController()
    const ask = async () => {
      const results = await client.search(textForService(text), MOST_HITS, abort.signal).then(ready, failed)
      if (!abort.signal.aborted) setFound({ text, results })
    }
    const timer = setTimeout(ask, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [client, text])

  return useMemo(() => {
    const own = searchGraph(graph, text, MOST_HITS)
    const results = found?.text === text ? found.results : LOADING
    const more = results.state === 'ready' ? results.value : []
    return { hits: addFound(own, more).slice(0, MOST_HITS), answer: results.state }
  }, [graph, text, found])
}
