import { layout, placeTogether } from './layout'
import { type Layout, type Shape, shapeKey } from './shape'

/** A shape to place, and under the same number the places. */
export interface LayoutRequest {
  readonly number: number
  readonly shape: Shape
}

export interface LayoutReply {
  readonly number: number
  readonly layout: Layout
}

/** The parts of the last shape: a change mostly touches one of them. */
let known = new Map<string, Layout>()

self.onmessage = ({ data: { number, shape } }: MessageEvent<LayoutRequest>) => {
  const used = new Map<string, Layout>()
  const places = layout(shape, (part) => {
    const key = shapeKey(part)
    const placed = known.get(key) ?? placeTogether(part)
    used.set(key, placed)
    return placed
  })
  known = used
  self.postMessage({ number, layout: places } satisfies LayoutReply)
}
