/** Walks over the two graphs. Cycles are fine: each node is visited once. */

import { type ColumnEdge, type ColumnGraph, MOST_STEPS } from './columns'
import type { ColumnKey } from './ids'

/** Everything that `neighbours` leads to from `start`, nearest first, with `start` itself. */
export function reachable<Node>(start: Node, neighbours: (node: Node) => Iterable<Node>): Set<Node> {
  return new Set(stepsFrom(start, neighbours).keys())
}

/** The same, with how many steps away each is; `start` is at 0. */
function stepsFrom<Node>(start: Node, neighbours: (node: Node) => Iterable<Node>): Map<Node, number> {
  const reached = new Map([[start, 0]])
  // A Map also visits what is added to it during the walk, so this is a breadth-first search.
  for (const [node, steps] of reached)
    for (const next of neighbours(node)) if (!reached.has(next)) reached.set(next, steps + 1)
  return reached
}

/** How a column hangs together with the chosen one: only over direct edges, or over an indirect one. */
export type Strength = 'direct' | 'indirect'

export interface ColumnReach {
  /** Nearest first, without the start. */
  readonly columns: ReadonlyMap<ColumnKey, Strength>
  /** Of these, those that edges between two columns lead to; to the others only what is told of all columns does. */
  readonly apart: ReadonlySet<ColumnKey>
  /** Ends of edges that are all columns of a dataset. */
  readonly wholes: ReadonlyMap<ColumnKey, Strength>
  /** All where data flows. */
  readonly edges: readonly ColumnEdge[]
  /** It goes as far as was asked for: there may be more beyond. */
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
  { wholes, isCut }: ColumnGraph,
  start: ColumnKey,
  edgesAt: (key: ColumnKey) => readonly ColumnEdge[],
  farEnd: (edge: ColumnEdge) => ColumnKey,
): ColumnReach {
  const over = (isTaken: (edge: ColumnEdge) => boolean) =>
    reachable(start, (key) => edgesAt(key).filter(isTaken).map(farEnd))
  const steps = stepsFrom(start, (key) => edgesAt(key).map(farEnd))
  const all = new Set(steps.keys())
  const direct = over((edge) => edge.direct)
  const apart = over((edge) => !wholes.has(edge.from) && !wholes.has(edge.to))
  const edges = [...all].flatMap(edgesAt).filter((edge) => !edge.within)
  all.delete(start)
  const strengths = [...all].map((key): [ColumnKey, Strength] => [
    key,
    direct.has(key) ? 'direct' : 'indirect',
  ])
  return {
    columns: new Map(strengths.filter(([key]) => !wholes.has(key))),
    apart,
    wholes: new Map(strengths.filter(([key]) => wholes.has(key))),
    edges,
    isCut: isCut && [...steps.values()].some((away) => away >= MOST_STEPS),
  }
}
