/** Piles: if a node has very many neighbours, only some are drawn, and a pile represents the others. */

import { edgesOf, type Flow, flowOf } from './flow'
import type { GraphNode, LineageGraph } from './graph'
import type { NodeId } from './ids'
import { isLit, type Lit } from './lit'
import { byText } from './order'
import { reachable } from './walk'

/** Represents neighbours of one node, the hub, that are not drawn, and all nodes that are connected only through them. */
export interface Pile {
  readonly kind: 'pile'
  readonly id: NodeId
  readonly hub: NodeId
  /** The neighbours are all jobs or all datasets. */
  readonly of: GraphNode['kind']
  readonly neighbours: number
  /** How many of the neighbours failed in their last run. */
  readonly failed: number
  /** The number of nodes in the pile, including the neighbours. */
  readonly nodes: number
  /** How many of its neighbours are drawn when it is expanded next. */
  readonly more: number
  /** How many of the hub's neighbours are drawn in all then. */
  readonly next: number
}

export type DrawnNode = GraphNode | Pile
export type DrawnGraph = Flow<DrawnNode>

export interface Choices {
  readonly open: NodeId | undefined
  readonly lit: Lit | undefined
  /** How many of the hub's neighbours the reader chose to see, by pile. */
  readonly shownByPile: ReadonlyMap<NodeId, number>
}

interface Piled {
  readonly graph: DrawnGraph
  /** The node that is drawn for a node: itself, or its pile. */
  readonly drawnAs: (node: NodeId) => NodeId
}

/** The neighbours drawn on one side of a node at first. */
const FIRST = 20
const TIMES_MORE = 5
/** A smaller pile would save no room. */
const MIN_PILE = 5

const SIDES = ['sources', 'targets'] as const
type Side = (typeof SIDES)[number]

/** The neighbours on one side of a hub, if they are too many. */
interface Crowd {
  readonly pile: NodeId
  readonly hub: NodeId
  /** The most relevant first. */
  readonly neighbours: readonly NodeId[]
  readonly shown: number
}

/**
 * Replaces neighbours that are too many by piles. Drawn first are those that are lit, failed or have the most neighbours
 * themselves; the open node and its neighbours are always drawn.
 */
export function piled(graph: LineageGraph, choices: Choices): Piled {
  const crowds = crowdsOf(graph, choices)
  if (crowds.length === 0) return { graph, drawnAs: (node) => node }
  const drawn = new Set([
    ...(choices.open === undefined ? [] : [choices.open, ...neighboursOf(graph, choices.open, crowds)]),
    ...crowds.flatMap(({ hub, neighbours, shown }) => [hub, ...neighbours.slice(0, shown)]),
  ])
  const hidden = new Map<NodeId, Crowd>()
  for (const crowd of crowds) {
    for (const node of crowd.neighbours) if (!drawn.has(node) && !hidden.has(node)) hidden.set(node, crowd)
  }
  const pileOf = withDependents(graph, hidden, drawn)
  const drawnAs = (node: NodeId) => pileOf.get(node)?.pile ?? node
  return { graph: contracted(graph, pileOf, pilesOf(graph, hidden, pileOf), drawnAs), drawnAs }
}

/** The neighbours of a node, except on a side that has too many. */
function neighboursOf(graph: LineageGraph, node: NodeId, crowds: readonly Crowd[]): NodeId[] {
  const piles = new Set(crowds.map(({ pile }) => pile))
  return SIDES.flatMap((side) => (piles.has(pileId(side, node)) ? [] : (graph[side].get(node) ?? [])))
}

function crowdsOf(graph: LineageGraph, { lit, shownByPile }: Choices): Crowd[] {
  const relevance = (node: NodeId) => [
    Number(lit !== undefined && isLit(lit, node)),
    Number(isFailed(graph.nodes.get(node))),
    SIDES.reduce((sum, side) => sum + (graph[side].get(node)?.length ?? 0), 0),
  ]
  return SIDES.flatMap((side) =>
    [...graph[side]].flatMap(([hub, neighbours]) => {
      const pile = pileId(side, hub)
      const shown = shownByPile.get(pile) ?? FIRST
      if (neighbours.length < shown + MIN_PILE) return []
      const ranks = new Map(neighbours.map((node) => [node, relevance(node)]))
      const byRank = (a: NodeId, b: NodeId) => descending(ranks.get(a) ?? [], ranks.get(b) ?? [])
      const sorted = [...neighbours].sort((a, b) => byRank(a, b) || byId(a, b))
      return [{ pile, hub, neighbours: sorted, shown }]
    }),
  )
}

const byId = byText((node: NodeId) => node)

function pileId(side: Side, hub: NodeId): NodeId {
  return `pile:${side}:${hub}` as NodeId
}

function descending(one: readonly number[], other: readonly number[]): number {
  return one.reduce((found, value, index) => found || (other[index] ?? 0) - value, 0)
}

function isFailed(node: GraphNode | undefined): boolean {
  return node?.kind === 'job' && node.job.latestRun?.state === 'FAILED'
}

/** The hidden nodes, and those that are connected to `drawn` nodes only through them, each with its crowd. */
function withDependents(
  graph: LineageGraph,
  hidden: ReadonlyMap<NodeId, Crowd>,
  drawn: ReadonlySet<NodeId>,
): Map<NodeId, Crowd> {
  const around = (node: NodeId) => SIDES.flatMap((side) => graph[side].get(node) ?? [])
  const all = new Map(hidden)
  const seen = new Set<NodeId>()
  for (const [node, crowd] of hidden) {
    for (const next of around(node)) {
      if (hidden.has(next) || seen.has(next)) continue
      const part = reachable(next, (each) => around(each).filter((other) => !hidden.has(other)))
      const isDependent = [...part].every((each) => !drawn.has(each))
      for (const each of part) {
        seen.add(each)
        if (isDependent) all.set(each, crowd)
      }
    }
  }
  return all
}

function pilesOf(
  graph: LineageGraph,
  hidden: ReadonlyMap<NodeId, Crowd>,
  pileOf: ReadonlyMap<NodeId, Crowd>,
): Pile[] {
  const sizes = new Map<Crowd, number>()
  for (const crowd of pileOf.values()) sizes.set(crowd, (sizes.get(crowd) ?? 0) + 1)
  return [...sizes].map(([crowd, nodes]) => {
    const mine = crowd.neighbours.filter((node) => hidden.get(node) === crowd)
    const next = crowd.shown * TIMES_MORE
    return {
      kind: 'pile',
      id: crowd.pile,
      hub: crowd.hub,
      of: graph.nodes.get(crowd.hub)?.kind === 'job' ? 'dataset' : 'job',
      neighbours: mine.length,
      failed: mine.filter((node) => isFailed(graph.nodes.get(node))).length,
      nodes,
      more: Math.min(mine.length, next - crowd.shown),
      next,
    }
  })
}

function contracted(
  graph: LineageGraph,
  pileOf: ReadonlyMap<NodeId, Crowd>,
  piles: readonly Pile[],
  drawnAs: (node: NodeId) => NodeId,
): DrawnGraph {
  const drawn = [...graph.nodes].filter(([id]) => !pileOf.has(id))
  const nodes = new Map<NodeId, DrawnNode>([...drawn, ...piles.map((pile) => [pile.id, pile] as const)])
  const edges = edgesOf(graph)
    .map(({ origin, destination }) => ({ origin: drawnAs(origin), destination: drawnAs(destination) }))
    .filter(({ origin, destination }) => origin !== destination) // within a pile
  return flowOf(nodes, edges)
}
