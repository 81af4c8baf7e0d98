/** The lines between the boxes, as SVG paths. */

import type { WireEdge } from '../api/types'
import { type Card, HEAD_HEIGHT, ROW_HEIGHT, sizeOf } from './cards'
import { edgesOf } from './flow'
import type { Box, Point } from './geometry'
import type { NodeId } from './ids'
import type { ColumnLit, End, Lit, Segment } from './lit'
import type { DrawnGraph } from './piles'
import { edgeKey, type Layout } from './shape'
import type { Strength } from './walk'

export interface Stroke {
  readonly key: string
  /** The `d` of an SVG path. */
  readonly d: string
  readonly kind: 'flow' | Strength
  /** `soft`: direct, but beyond an indirect step. */
  readonly tone: 'plain' | 'related' | 'soft' | 'dim'
}

export interface Drawing {
  readonly graph: DrawnGraph
  readonly cards: ReadonlyMap<NodeId, Card>
  readonly layout: Layout
}

/** The drawing until the new layout arrives: new cards that have the same size, old ones for the rest. */
export function provisional(old: Drawing, news: ReadonlyMap<NodeId, Card>): Drawing {
  const cards = new Map(
    [...old.cards].map(([id, card]) => {
      const [next, box] = [news.get(id), old.layout.boxes.get(id)]
      return [id, next && sizeOf(next).height === box?.height ? next : card]
    }),
  )
  return { ...old, cards }
}

/** Table-level edges; while a path is lit, those on it are highlighted and on top, and the others dimmed. */
export function flowStrokes({ graph, layout }: Drawing, lit: Lit | undefined): Stroke[] {
  const onPath = new Set(lit?.kind === 'node' ? lit.edges.map(edgeKey) : [])
  const strokes = edgesOf(graph).flatMap((edge): Stroke[] => {
    const [from, to] = [layout.boxes.get(edge.origin), layout.boxes.get(edge.destination)]
    if (!from || !to) return []
    const key = edgeKey(edge)
    const tone = onPath.has(key) ? 'related' : lit ? 'dim' : 'plain'
    return [{ key, d: curve(rightOf(from), routeOf(layout, edge), leftOf(to)), kind: 'flow', tone }]
  })
  return strokes.sort((a, b) => Number(a.tone === 'related') - Number(b.tone === 'related'))
}

export function columnStrokes(drawing: Drawing, lit: ColumnLit): Stroke[] {
  const strokes = lit.segments.flatMap((segment) => segmentStroke(drawing, segment))
  // The most important lines are drawn last, on top.
  const weight = ({ kind, tone }: Stroke) => Number(kind === 'direct') + Number(tone === 'plain')
  return strokes.sort((a, b) => weight(a) - weight(b))
}

function segmentStroke(drawing: Drawing, { from, to, kind, strength }: Segment): Stroke[] {
  const start = port(drawing, from, rightOf, kind)
  const end = port(drawing, to, leftOf, kind)
  if (!start || !end) return []
  const route = routeOf(drawing.layout, { origin: from.node, destination: to.node })
  const key = JSON.stringify([from.node, from.column, to.node, to.column])
  const tone = kind === 'direct' && strength === 'indirect' ? 'soft' : 'plain'
  return [{ key, d: curve(start, route, end), kind, tone }]
}

/** Where a line ends: at a column's row; at a job direct lines a little above indirect ones. */
function port(
  { cards, layout }: Drawing,
  { node, column }: End,
  side: (box: Box) => Point,
  kind: Strength,
): Point | undefined {
  const [box, card] = [layout.boxes.get(node), cards.get(node)]
  if (!box || !card) return undefined
  const { x, y } = side(box)
  if (column === undefined) return { x, y: y + (kind === 'direct' ? -JOB_PORT_OFFSET : JOB_PORT_OFFSET) }
  const row = card.rows.findIndex(({ field }) => field.name === column)
  return row < 0 ? undefined : { x, y: box.y + HEAD_HEIGHT + (row + 0.5) * ROW_HEIGHT }
}

const JOB_PORT_OFFSET = 5

/** The turns of a line; one that goes back runs to the left between its first and last turn. */
interface LineRoute {
  readonly turns: readonly Point[]
  readonly goesBack: boolean
}

/** A job may write what it reads: that line goes back, past both boxes, and beneath them if the layout has no bends. */
function routeOf(layout: Layout, edge: WireEdge): LineRoute {
  const [from, to] = [layout.boxes.get(edge.origin), layout.boxes.get(edge.destination)]
  const turns = layout.bends.get(edgeKey(edge)) ?? []
  if (!from || !to || to.x >= from.x + from.width) return { turns, goesBack: false }
  const [first, last] = [turns[0], turns.at(-1)]
  if (!first || !last) return { turns: beneath(from, to), goesBack: true }
  return { turns: [...past(from, first.y), ...turns, ...past(to, last.y)], goesBack: true }
}

/** From right to left past a box, as near to the wanted height as the box allows. */
function past({ x, y, width, height }: Box, wanted: number): Point[] {
  const [above, below] = [y - BENEATH, y + height + BENEATH]
  const isFree = wanted <= above || wanted >= below
  const free = wanted - above < below - wanted ? above : below
  const level = isFree ? wanted : free
  return [
    { x: x + width, y: level },
    { x, y: level },
  ]
}

function beneath(from: Box, to: Box): Point[] {
  const y = Math.max(from.y + from.height, to.y + to.height) + BENEATH
  return [
    { x: from.x + from.width, y },
    { x: to.x, y },
  ]
}

/** Half of the gap between two boxes of a rank. */
const BENEATH = 7

function rightOf({ x, y, width }: Box): Point {
  return { x: x + width, y: y + HEAD_HEIGHT / 2 }
}

function leftOf({ x, y }: Box): Point {
  return { x, y: y + HEAD_HEIGHT / 2 }
}

/** Bézier curves that are horizontal at every point, so that they join smoothly. */
function curve(start: Point, { turns, goesBack }: LineRoute, end: Point): string {
  const points = [
    { ...start, heading: 1 },
    ...turns.map((turn) => ({ ...turn, heading: goesBack ? -1 : 1 })),
    { ...end, heading: 1 },
  ]
  const pieces = points.slice(1).map((next, index) => {
    const at = points[index] ?? next
    const reach = at.heading === next.heading ? Math.max(Math.abs(next.x - at.x) / 2, 16) : TURN
    const [out, back] = [
      { x: at.x + at.heading * reach, y: at.y },
      { x: next.x - next.heading * reach, y: next.y },
    ]
    return `C${coordinates(out)} ${coordinates(back)} ${coordinates(next)}`
  })
  return `M${coordinates(start)}${pieces.join('')}`
}

/** How far a line swings out where it reverses. */
const TURN = 20

function coordinates({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`
}
