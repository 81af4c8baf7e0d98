/** Of a node's very many neighbours only some are drawn; a pile stands for the others. */

import { edgesOf, type Flow, flowOf, type GraphNode, type LineageGraph } from './graph'
import type { NodeId } from './ids'
import { isLit, type Lit } from './lit'
import { byText } from './order'
import { reachable } from './walk'

/** What stands for neighbours of one node that are not drawn, and for all that hangs on those alone. */
export interface Pile {
  readonly kind: 'pile'
  readonly id: NodeId
  readonly hub: NodeId
  /** The neighbours are all jobs or all datasets. */
  readonly of: GraphNode['kind']
  readonly neighbours: number
  /** How many of these failed when they ran last. */
  readonly failed: number
  /** How many nodes there are in it, the neighbours among them. */
  readonly nodes: number
  /** How many of its neighbours are drawn once it is spread; then it stands for the others. */
  readonly more: number
  /** As how many of the hub's neighbours are drawn then. */
  readonly next: number
}

export type DrawnNode = GraphNode | Pile
export type DrawnGraph = Flow<DrawnNode>

export interface Look {
  readonly open: NodeId | undefined
  readonly lit: Lit | undefined
  /** How many neighbours the reader wants to see, by pile. */
  readonly spread: ReadonlyMap<NodeId, number>
}

export interface Piled {
  readonly graph: DrawnGraph
  /** What is drawn for a node: itself, or the pile that it is in. */
  readonly drawnAs: (node: NodeId) => NodeId
}

/** As many neighbours on one side of a node can be taken in at once. */
const FIRST = 20
const TIMES_MORE = 5
/** A pile of fewer would save no room. */
const FEWEST = 5

const SIDES = ['sources', 'targets'] as const
type Side = (typeof SIDES)[number]

interface Crowd {
  readonly pile: NodeId
  readonly hub: NodeId
  /** Those that are worth most come first. */
  readonly neighbours: readonly NodeId[]
  readonly shown: number
}

/**
 * Draws of neighbours that are too many those first that are lit, failed or lead on to most; and always the open node
 * with what is next to it.
 */
export function piled(graph: LineageGraph, look: Look): Piled {
  const crowds = crowdsOf(graph, look)
  if (crowds.length === 0) return { graph, drawnAs: (node) => node }
  const drawn = new Set([
    ...(look.open === undefined ? [] : [look.open, ...closeTo(graph, look.open, crowds)]),
    ...crowds.flatMap(({ hub, neighbours, shown }) => [hub, ...neighbours.slice(0, shown)]),
  ])
  const hidden = new Map<NodeId, Crowd>()
  for (const crowd of crowds) {
    for (const node of crowd.neighbours) if (!drawn.has(node) && !hidden.has(node)) hidden.set(node, crowd)
  }
  const pileOf = withHangers(graph, hidden, drawn)
  const drawnAs = (node: NodeId) => pileOf.get(node)?.pile ?? node
  return { graph: contracted(graph, pileOf, pilesOf(graph, hidden, pileOf), drawnAs), drawnAs }
}

/** The neighbours of a node, but for those that are too many. */
function closeTo(graph: LineageGraph, node: NodeId, crowds: readonly Crowd[]): NodeId[] {
  const piles = new Set(crowds.map(({ pile }) => pile))
  return SIDES.flatMap((side) => (piles.has(pileId(side, node)) ? [] : (graph[side].get(node) ?? [])))
}

function crowdsOf(graph: LineageGraph, { lit, spread }: Look): Crowd[] {
  const worth = (node: NodeId) => [
    Number(lit !== undefined && isLit(lit, node)),
    Number(isFailed(graph.nodes.get(node))),
    SIDES.reduce((sum, side) => sum + (graph[side].get(node)?.length ?? 0), 0),
  ]
  return SIDES.flatMap((side) =>
    [...graph[side]].flatMap(([hub, neighbours]) => {
      const pile = pileId(side, hub)
      const shown = spread.get(pile) ?? FIRST
      if (neighbours.length < shown + FEWEST) return []
      const worths = new Map(neighbours.map((node) => [node, worth(node)]))
      const byWorth = (a: NodeId, b: NodeId) => descending(worths.get(a) ?? [], worths.get(b) ?? [])
      const sorted = [...neighbours].sort((a, b) => byWorth(a, b) || byId(a, b))
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

/** The hidden nodes, with those that hang together with nothing that is `drawn` but over them. */
function withHangers(
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
      const hangs = [...part].every((each) => !drawn.has(each))
      for (const each of part) {
        seen.add(each)
        if (hangs) all.set(each, crowd)
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
