/** Walks over the two graphs. Cycles are fine: each node is visited once. */

import type { ColumnEdge, ColumnGraph } from './columns'
import type { ColumnKey } from './ids'

/** Everything that `neighbours` leads to from `start`, nearest first, with `start` itself. */
export function reachable<Node>(start: Node, neighbours: (node: Node) => Iterable<Node>): Set<Node> {
  const reached = new Set([start])
  // A Set also visits what is added to it during the walk, so this is a breadth-first search.
  for (const node of reached) for (const next of neighbours(node)) reached.add(next)
  return reached
}

/** How a column hangs together with the chosen one: only over direct edges, or over an indirect one. */
export type Strength = 'direct' | 'indirect'

export interface ColumnReach {
  /** Nearest first, without the start. */
  readonly columns: ReadonlyMap<ColumnKey, Strength>
  readonly edges: readonly ColumnEdge[]
}

export interface ColumnPath {
  readonly start: ColumnKey
  readonly upstream: ColumnReach
  readonly downstream: ColumnReach
}

export function columnPath(graph: ColumnGraph, start: ColumnKey, withIndirect: boolean): ColumnPath {
  const taken = (edges: readonly ColumnEdge[] = []) => edges.filter((edge) => edge.direct || withIndirect)
  return {
    start,
    upstream: reach(
      start,
      (key) => taken(graph.into.get(key)),
      (edge) => edge.from,
    ),
    downstream: reach(
      start,
      (key) => taken(graph.outOf.get(key)),
      (edge) => edge.to,
    ),
  }
}

function reach(
  start: ColumnKey,
  edgesAt: (key: ColumnKey) => readonly ColumnEdge[],
  farEnd: (edge: ColumnEdge) => ColumnKey,
): ColumnReach {
  const all = reachable(start, (key) => edgesAt(key).map(farEnd))
  const direct = reachable(start, (key) =>
    edgesAt(key)
      .filter((edge) => edge.direct)
      .map(farEnd),
  )
  const edges = [...all].flatMap(edgesAt)
  all.delete(start)
  return { columns: new Map([...all].map((key) => [key, direct.has(key) ? 'direct' : 'indirect'])), edges }
}
