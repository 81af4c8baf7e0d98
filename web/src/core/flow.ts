/** Nodes of any kind and the edges between them. */

import type { WireEdge } from '../api/types'
import type { NodeId } from './ids'

export interface Flow<Node> {
  readonly nodes: ReadonlyMap<NodeId, Node>
  /** Upstream neighbours; both ends of every edge are in `nodes`. */
  readonly sources: ReadonlyMap<NodeId, readonly NodeId[]>
  /** Downstream neighbours. */
  readonly targets: ReadonlyMap<NodeId, readonly NodeId[]>
}

export function edgesOf(graph: Flow<unknown>): WireEdge[] {
  return [...graph.targets].flatMap(([origin, targets]) =>
    targets.map((destination) => ({ origin, destination })),
  )
}

/** Edges may be duplicates; those with an end that is not among the nodes are left out. */
export function flowOf<Node>(nodes: ReadonlyMap<NodeId, Node>, edges: Iterable<WireEdge>): Flow<Node> {
  const sources = new Map<NodeId, Set<NodeId>>()
  const targets = new Map<NodeId, Set<NodeId>>()
  for (const { origin, destination } of edges) {
    if (!nodes.has(origin) || !nodes.has(destination)) continue
    add(sources, destination, origin)
    add(targets, origin, destination)
  }
  return { nodes, sources: lists(sources), targets: lists(targets) }
}

function add(edges: Map<NodeId, Set<NodeId>>, from: NodeId, to: NodeId): void {
  const known = edges.get(from)
  if (known) known.add(to)
  else edges.set(from, new Set([to]))
}

function lists(edges: ReadonlyMap<NodeId, ReadonlySet<NodeId>>): Map<NodeId, readonly NodeId[]> {
  return new Map([...edges].map(([from, to]) => [from, [...to]]))
}
