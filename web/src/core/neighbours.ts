/** What is next to a node, as far as the graph holds it. */

import type { Neighbour, Way, WireNode } from '../api/types'
import type { LineageGraph } from './graph'
import type { NodeId } from './ids'
import { byText } from './order'

/** The jobs, or the datasets, in the service's order. */
export function neighboursIn(
  graph: LineageGraph,
  node: NodeId,
  way: Way,
  type: WireNode['type'],
): Neighbour[] {
  const found = (way === 'upstream' ? graph.sources : graph.targets).get(node) ?? []
  return found
    .flatMap((id) => {
      const each = graph.wire.get(id)
      return each?.type === type ? [{ ...each.data, nodeId: id }] : []
    })
    .sort(byName)
}

const byName = byText(({ name, namespace }: Neighbour) => `${name}\0${namespace}`)
