import { useMemo } from 'react'
import type { Direction, WireNode } from '../../api/types'
import type { NodeId } from '../../core/ids'
import { labelText, neighbourLabel } from '../../core/labels'
import { neighboursIn } from '../../core/neighbours'
import { usePage } from '../page'
import { useLoaded } from '../useLoaded'
import { useMore } from '../useMore'
import { NodeLinks } from './NodeLinks'

interface NeighboursProps {
  readonly of: NodeId
  readonly direction: Direction
  readonly type: WireNode['type']
  readonly title: string
  /** Shown if there are none; without it nothing is shown. */
  readonly none?: string
}

/** The jobs, or the datasets, directly upstream or downstream of a node; those in the graph until all are loaded. */
export function Neighbours({ of, direction, type, title, none }: NeighboursProps) {
  const { client, graph, nodeRevision } = usePage()
  const more = useMore()
  const { count } = more
  // Both only grow, so their sum changes when either does.
  const loaded = useLoaded(of, nodeRevision(of) + count, () => client.neighbours(of, direction, type, count))
  const inGraph = useMemo(() => neighboursIn(graph, of, direction, type), [graph, of, direction, type])
  const { items, totalCount } =
    loaded.state === 'ready' ? loaded.value : { items: inGraph.slice(0, count), totalCount: inGraph.length }
  if (loaded.state !== 'failed' && totalCount === 0 && none === undefined) return null
  return (
    <NodeLinks
      title={title}
      nodes={items.map((item) => ({ id: item.nodeId, name: labelText(neighbourLabel(item)) }))}
      totalCount={totalCount}
      none={loaded.state === 'failed' ? undefined : none}
      more={more}
      failure={loaded.state === 'failed' ? loaded.message : undefined}
    />
  )
}
