/** The lit path of a job or dataset: what it is made from and what is made from it. */

import type { Path, WireEdge } from '../api/types'
import { edgesOf, type Flow, flowOf } from './graph'
import { isJobId, type NodeId } from './ids'
import { reachable } from './walk'

export interface NodeLit {
  readonly kind: 'node'
  /** And piles that hold a part of the path. */
  readonly nodes: ReadonlySet<NodeId>
  readonly edges: readonly WireEdge[]
  /** How far it reaches, where that is known. */
  readonly reach: Reach | undefined
}

export interface Reach {
  /** Datasets, without the start. */
  readonly upstream: number
  readonly downstream: number
  /** There are more beyond. */
  readonly isCut: boolean
}

/** As far as the service says that data goes. */
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

/** What is next to the start: that is on its path, whatever the service says of the rest. */
export function litBeside(graph: Flow<unknown>, start: NodeId): NodeLit {
  return lit(
    start,
    edgesOf(graph).filter(({ origin, destination }) => origin === start || destination === start),
  )
}

/** As far as data may go: into all that a job writes from all that it reads. */
export function litAtMost(graph: Flow<unknown>, start: NodeId): NodeLit {
  const upstream = reachable(start, (node) => graph.sources.get(node) ?? [])
  const downstream = reachable(start, (node) => graph.targets.get(node) ?? [])
  return lit(
    start,
    edgesOf(graph).filter(({ origin, destination }) => upstream.has(destination) || downstream.has(origin)),
  )
}

/** The path over what is drawn in the place of its nodes. */
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
