import { useEffect, useMemo, useState } from 'react'
import type { SearchResult } from '../../api/types'
import { addFound, type Hit, searchGraph } from '../../core/search'
import { usePage } from '../page'

const MOST_HITS = 12
const PAUSE_MS = 120

/** The graph's own hits at once, the service's after a pause in the typing. */
export function useHits(text: string): Hit[] {
  const { client, graph } = usePage()
  const [found, setFound] = useState<{ text: string; results: readonly SearchResult[] }>()

  useEffect(() => {
    if (text.trim() === '') return
    const abort = new AbortController()
    const ask = async () => {
      // Without an answer the graph's own hits still serve.
      const results = await client.search(text.trim(), MOST_HITS, abort.signal).catch(() => [])
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
    return addFound(own, found?.text === text ? found.results : []).slice(0, MOST_HITS)
  }, [graph, text, found])
}
