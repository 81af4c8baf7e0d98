import { useMemo, useState } from 'react'
import { RevisionCache } from '../api/revisionCache'
import type { Path } from '../api/types'
import type { NodeId } from '../core/ids'
import { type Loadable, ready } from '../core/loadable'
import { usePage } from './page'
import { useLoaded } from './useLoaded'
import { useThrottledRevision } from './useThrottledRevision'

/** Who moves on sooner has not asked for anything. */
const SETTLED_MS = 60

/** The path of a node, asked for once it has been chosen for a moment; kept until the graph changes. */
export function usePath(node: NodeId | undefined): Loadable<Path> {
  const { client, drawn } = usePage()
  const [kept] = useState(() => new RevisionCache<Path>())
  const asked = useThrottledRevision(drawn)
  const known = node && kept.get(node, asked)
  const loaded = useLoaded(known ? undefined : node, asked, async (signal) => {
    if (node === undefined) throw new Error('there is no node to ask for')
    await settled(signal)
    return kept.keep(node, asked, await client.path(node, signal))
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
