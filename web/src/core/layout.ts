/** Lays out boxes from left to right. A pure function; `layout.worker.ts` runs it off the page's thread. */

import { Graph, layout as runDagre } from '@dagrejs/dagre'
import type { WireEdge } from '../api/types'
import type { Box, Point, Size } from './geometry'
import { byText } from './order'
import { packed, partsOf } from './parts'
import { edgeKey, type Layout, type Shape } from './shape'

const SPACING = { rankdir: 'LR', nodesep: 14, edgesep: 10, ranksep: 40 } as const
/** With more boxes than this, minimising edge lengths is too slow: three quarters of the whole time. */
const MANY = 150

/**
 * The same shape gives the same layout, whatever the order of its boxes and edges.
 *
 * `place` lays out each connected part by itself: its time grows faster than the number of boxes.
 */
export function layout(shape: Shape, place: (part: Shape) => Layout = placeTogether): Layout {
  return packed(partsOf(shape).map(place))
}

export function placeTogether({ boxes, edges }: Shape): Layout {
  const dagre = new Graph()
  dagre.setGraph({ ...SPACING, ranker: boxes.size > MANY ? 'tight-tree' : 'network-simplex' })
  for (const [id, { width, height }] of [...boxes].sort(byText(([id]) => id))) {
    dagre.setNode(id, { width, height })
  }
  for (const { origin, destination } of [...edges].sort(byText(edgeKey))) {
    dagre.setEdge(origin, destination, {})
  }
  runDagre(dagre)
  const placed = new Map([...boxes].map(([id, size]) => [id, corner(dagre.node(id), size)]))
  const halfWidths = halfWidthOfRanks(placed.values())
  const pointsOf = (edge: WireEdge) => dagre.edge(edge.origin, edge.destination)?.points ?? []
  return {
    boxes: placed,
    bends: new Map(edges.map((edge) => [edgeKey(edge), bends(pointsOf(edge), halfWidths)])),
  }
}

/** Dagre's positions are centres. */
function corner(centre: Point, { width, height }: Size): Box {
  return { x: centre.x - width / 2, y: centre.y - height / 2, width, height }
}

/** By the x of the rank's centre, which all its boxes share. */
function halfWidthOfRanks(boxes: Iterable<Box>): Map<number, number> {
  const halves = new Map<number, number>()
  for (const { x, width } of boxes) {
    const centre = Math.round(x + width / 2)
    halves.set(centre, Math.max(halves.get(centre) ?? 0, width / 2))
  }
  return halves
}

/** Dagre's points lie alternately between two ranks and on one; only the latter keep an edge off the boxes. */
function bends(points: readonly Point[], halfWidths: ReadonlyMap<number, number>): Point[] {
  const isForward = (points[0]?.x ?? 0) <= (points.at(-1)?.x ?? 0)
  const onRanks = points.slice(1, -1).filter((_, index) => index % 2 === 1)
  return onRanks.flatMap(({ x, y }) => {
    const half = (halfWidths.get(Math.round(x)) ?? 0) * (isForward ? 1 : -1)
    return [
      { x: x - half, y },
      { x: x + half, y },
    ]
  })
}
