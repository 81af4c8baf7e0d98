/** The lit path of a job or dataset: everything upstream and downstream of it. */

import type { Path, WireEdge } from '../api/types'
import { edgesOf, type Flow, flowOf } from './flow'
import { isJobId, type NodeId } from './ids'
import { reachable } from './walk'

export interface NodeLit {
  readonly kind: 'node'
  /** The nodes on the path, and piles that hold a part of it. */
  readonly nodes: ReadonlySet<NodeId>
  readonly edges: readonly WireEdge[]
  /** The size of the path, if known. */
  readonly reach: Reach | undefined
}

export interface Reach {
  /** The number of datasets, without the start. */
  readonly upstream: number
  readonly downstream: number
  /** There are more beyond the depth limit. */
  readonly isCut: boolean
}

/** The path that the service gives. */
export function litPath(start: NodeId, { edges, isCut }: Path): NodeLit {
  const ends = edges.flatMap(({ origin, destination }) => [origin, destination])
  const { sources, targets } = flowOf(new Map(ends.map((end) => [end, end])), edges)
  const datasets = (neighbours: Flow<unknown>['sources']) =>
    [...reachable(start, (node) => neighbours.get(node) ?? [])].filter(
      (node) => node !== start && !isJobId(node),
    ).length
  const reach = { upstream: datasets(sources), downstream: datasets(targets), isCut }
  return { ...lit(start, edges), reach }
}

/** The start and its neighbours, which are on its path in any case. */
export function litNeighbours(graph: Flow<unknown>, start: NodeId): NodeLit {
  return lit(
    start,
    edgesOf(graph).filter(({ origin, destination }) => origin === start || destination === start),
  )
}

/** The largest possible path: as if each job wrote all of its outputs from all of its inputs. */
export function litAtMost(graph: Flow<unknown>, start: NodeId): NodeLit {
  const upstream = reachable(start, (node) => graph.sources.get(node) ?? [])
  const downstream = reachable(start, (node) => graph.targets.get(node) ?? [])
  return lit(
    start,
    edgesOf(graph).filter(({ origin, destination }) => upstream.has(destination) || downstream.has(origin)),
  )
}

/** The path with each node replaced by the one that is drawn for it. */
export function pathOver(path: NodeLit, drawnAs: (node: NodeId) => NodeId): NodeLit {
  const edges = path.edges.map(({ origin, destination }) => ({
    origin: drawnAs(origin),
    destination: drawnAs(destination),
  }))
  return { ...path, edges, nodes: new Set([...path.nodes].map(drawnAs)) }
}

function lit(start: NodeId, edges: readonly WireEdge[]): NodeLit {
  const ends = edges.flatMap(({ origin, destination }) => [origin, destination])
  return { kind: 'node', nodes: new Set([start, ...ends]), edges, reach: undefined }
}
