/** A node's neighbours in the graph. */

import type { Direction, Neighbour, WireNode } from '../api/types'
import type { LineageGraph } from './graph'
import type { NodeId } from './ids'
import { byText } from './order'

/** The jobs, or the datasets, in the service's order. */
export function neighboursIn(
  graph: LineageGraph,
  node: NodeId,
  direction: Direction,
  type: WireNode['type'],
): Neighbour[] {
  const found = (direction === 'upstream' ? graph.sources : graph.targets).get(node) ?? []
  return found
    .flatMap((id) => {
      const each = graph.wire.get(id)
      return each?.type === type ? [{ ...each.data, nodeId: id }] : []
    })
    .sort(byName)
}

const byName = byText(({ name, namespace }: Neighbour) => `${name}\0${namespace}`)
