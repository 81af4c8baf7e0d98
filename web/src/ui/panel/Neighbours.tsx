import { useMemo } from 'react'
import type { Way, WireNode } from '../../api/types'
import type { NodeId } from '../../core/ids'
import { labelText, neighbourLabel } from '../../core/labels'
import { neighboursIn } from '../../core/neighbours'
import { usePage } from '../page'
import { useLoaded } from '../useLoaded'
import { useMore } from '../useMore'
import { NodeLinks } from './NodeLinks'

interface NeighboursProps {
  readonly of: NodeId
  readonly way: Way
  readonly type: WireNode['type']
  readonly title: string
  /** What to say if there are none; if there is nothing to say, nothing is shown. */
  readonly none?: string
}

/** The jobs, or the datasets, on one side of a node; until the service tells all of them, those in the graph. */
export function Neighbours({ of, way, type, title, none }: NeighboursProps) {
  const { client, graph, revisionOf } = usePage()
  const more = useMore()
  const { count } = more
  // Both only grow, so their sum tells when either did.
  const asked = useLoaded(of, revisionOf(of) + count, () => client.neighbours(of, way, type, count))
  const inGraph = useMemo(() => neighboursIn(graph, of, way, type), [graph, of, way, type])
  const { items, totalCount } =
    asked.state === 'ready' ? asked.value : { items: inGraph.slice(0, count), totalCount: inGraph.length }
  if (asked.state !== 'failed' && totalCount === 0 && none === undefined) return null
  return (
    <NodeLinks
      title={title}
      nodes={items.map((item) => ({ id: item.nodeId, name: labelText(neighbourLabel(item)) }))}
      totalCount={totalCount}
      none={asked.state === 'failed' ? undefined : none}
      more={more}
      failure={asked.state === 'failed' ? asked.message : undefined}
    />
  )
}
