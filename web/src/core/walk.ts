/** Walks over the graph of nodes and that of columns. Cycles are fine: each node is visited once. */

import { type ColumnEdge, type ColumnGraph, MAX_STEPS } from './columns'
import type { ColumnKey } from './ids'

/** Everything reachable from `start` by `neighbours`, nearest first, including `start`. */
export function reachable<Node>(start: Node, neighbours: (node: Node) => Iterable<Node>): Set<Node> {
  return new Set(stepsFrom(start, neighbours).keys())
}

/** The same, with the distance of each in steps; `start` is at 0. */
function stepsFrom<Node>(start: Node, neighbours: (node: Node) => Iterable<Node>): Map<Node, number> {
  const reached = new Map([[start, 0]])
  // A Map also visits what is added to it during the walk, so this is a breadth-first search.
  for (const [node, steps] of reached)
    for (const next of neighbours(node)) if (!reached.has(next)) reached.set(next, steps + 1)
  return reached
}

/** How a column is connected to the chosen one: only by direct edges, or by an indirect one, too. */
export type Strength = 'direct' | 'indirect'

export interface ColumnReach {
  /** Nearest first, without the start. */
  readonly columns: ReadonlyMap<ColumnKey, Strength>
  /** Those that are connected by edges between single columns; the others only by edges of whole datasets. */
  readonly columnwise: ReadonlySet<ColumnKey>
  /** Whole datasets that are ends of edges. */
  readonly wholeDatasets: ReadonlyMap<ColumnKey, Strength>
  /** All edges with a data flow. */
  readonly edges: readonly ColumnEdge[]
  /** It reaches the depth limit: there may be more beyond. */
  readonly isCut: boolean
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
      graph,
      start,
      (key) => taken(graph.into.get(key)),
      (edge) => edge.from,
    ),
    downstream: reach(
      graph,
      start,
      (key) => taken(graph.outOf.get(key)),
      (edge) => edge.to,
    ),
  }
}

function reach(
  { wholeDatasets, isCut }: ColumnGraph,
  start: ColumnKey,
  edgesAt: (key: ColumnKey) => readonly ColumnEdge[],
  farEnd: (edge: ColumnEdge) => ColumnKey,
): ColumnReach {
  const over = (isTaken: (edge: ColumnEdge) => boolean) =>
    reachable(start, (key) => edgesAt(key).filter(isTaken).map(farEnd))
  const steps = stepsFrom(start, (key) => edgesAt(key).map(farEnd))
  const all = new Set(steps.keys())
  const direct = over((edge) => edge.direct)
  const columnwise = over((edge) => !wholeDatasets.has(edge.from) && !wholeDatasets.has(edge.to))
  const edges = [...all].flatMap(edgesAt).filter((edge) => !edge.within)
  all.delete(start)
  const strengths = [...all].map((key): [ColumnKey, Strength] => [
    key,
    direct.has(key) ? 'direct' : 'indirect',
  ])
  return {
    columns: new Map(strengths.filter(([key]) => !wholeDatasets.has(key))),
    columnwise,
    wholeDatasets: new Map(strengths.filter(([key]) => wholeDatasets.has(key))),
    edges,
    isCut: isCut && [...steps.values()].some((away) => away >= MAX_STEPS),
  }
}
