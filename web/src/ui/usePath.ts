import { useMemo, useState } from 'react'
import { RevisionCache } from '../api/revisionCache'
import type { Path } from '../api/types'
import type { NodeId } from '../core/ids'
import { type Loadable, ready } from '../core/loadable'
import { usePage } from './page'
import { useLoaded } from './useLoaded'
import { useThrottledRevision } from './useThrottledRevision'

/** If the reader moves on sooner, nothing is requested. */
const SETTLED_MS = 60

/** The path of a node, requested once the node has been chosen for a moment; cached until the graph changes. */
export function usePath(node: NodeId | undefined): Loadable<Path> {
  const { client, graphRevision } = usePage()
  const [cache] = useState(() => new RevisionCache<Path>())
  const revision = useThrottledRevision(graphRevision)
  const known = node && cache.get(node, revision)
  const loaded = useLoaded(known ? undefined : node, revision, async (signal) => {
    if (node === undefined) throw new Error('usePath loads without a node')
    await settled(signal)
    return cache.put(node, revision, await client.path(node, signal))
  })
  return useMemo(() => (known ? ready(known) : loaded), [known, loaded])
}

function settled(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, SETTLED_MS)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
