/** Splits a shape into its connected parts, and packs their layouts into one. */

import type { WireEdge } from '../api/types'
import { boundsOf, type Point, type Size } from './geometry'
import type { NodeId } from './ids'
import { byText } from './order'
import type { Layout, Shape } from './shape'
import { reachable } from './walk'

const GAP = 32
/** The ratio of width to height that packing aims at. */
const PROPORTION = 1.8

/** The connected parts, each with all of its edges. */
export function partsOf({ boxes, edges }: Shape): Shape[] {
  const neighbours = new Map<NodeId, NodeId[]>([...boxes.keys()].map((id) => [id, []]))
  const edgesAt = new Map<NodeId, WireEdge[]>([...boxes.keys()].map((id) => [id, []]))
  for (const edge of edges) {
    neighbours.get(edge.origin)?.push(edge.destination)
    neighbours.get(edge.destination)?.push(edge.origin)
    edgesAt.get(edge.origin)?.push(edge)
  }
  const parts: Shape[] = []
  const taken = new Set<NodeId>()
  for (const start of boxes.keys()) {
    if (taken.has(start)) continue
    const part = reachable(start, (id) => neighbours.get(id) ?? [])
    for (const id of part) taken.add(id)
    parts.push({
      boxes: new Map([...part].map((id) => [id, boxes.get(id) ?? NO_SIZE])),
      edges: [...part].flatMap((id) => edgesAt.get(id) ?? []),
    })
  }
  return parts
}

const NO_SIZE: Size = { width: 0, height: 0 }

/** Packs parts into rows from the upper left, the highest first. */
export function packed(parts: readonly Layout[]): Layout {
  const sorted = parts
    .map((part) => ({
      part,
      bounds: boundsOf(part.boxes.values()) ?? { x: 0, y: 0, ...NO_SIZE },
      name: nameOf(part),
    }))
    .sort((a, b) => b.bounds.height - a.bounds.height || byName(a, b))
  const area = sorted.reduce((sum, { bounds }) => sum + (bounds.width + GAP) * (bounds.height + GAP), 0)
  const widest = Math.max(0, ...sorted.map(({ bounds }) => bounds.width))
  const room = Math.max(widest, Math.sqrt(area * PROPORTION))
  let [x, y, rowHeight] = [0, 0, 0]
  const moved = sorted.map(({ part, bounds }) => {
    if (x > 0 && x + bounds.width > room) [x, y, rowHeight] = [0, y + rowHeight + GAP, 0]
    const placed = shifted(part, { x: x - bounds.x, y: y - bounds.y })
    x += bounds.width + GAP
    rowHeight = Math.max(rowHeight, bounds.height)
    return placed
  })
  return {
    boxes: new Map(moved.flatMap(({ boxes }) => [...boxes])),
    bends: new Map(moved.flatMap(({ bends }) => [...bends])),
  }
}

const byName = byText(({ name }: { readonly name: string }) => name)

/** The first of the part's ids, to order parts of the same height. */
function nameOf({ boxes }: Layout): string {
  return [...boxes.keys()].reduce((first, id) => (id < first ? id : first))
}

function shifted({ boxes, bends }: Layout, by: Point): Layout {
  const move = <P extends Point>(point: P): P => ({ ...point, x: point.x + by.x, y: point.y + by.y })
  return {
    boxes: new Map([...boxes].map(([id, box]) => [id, move(box)])),
    bends: new Map([...bends].map(([key, points]) => [key, points.map(move)])),
  }
}
