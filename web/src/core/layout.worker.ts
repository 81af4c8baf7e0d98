import { layout, placeTogether } from './layout'
import { type Layout, type Shape, shapeKey } from './shape'

/** A shape to lay out; the reply has the same number. */
export interface LayoutRequest {
  readonly number: number
  readonly shape: Shape
}

export interface LayoutReply {
  readonly number: number
  readonly layout: Layout
}

/** The layouts of the last shape's parts: a change usually affects only one of them. */
let known = new Map<string, Layout>()

self.onmessage = ({ data: { number, shape } }: MessageEvent<LayoutRequest>) => {
  const used = new Map<string, Layout>()
  const found = layout(shape, (part) => {
    const key = shapeKey(part)
    const placed = known.get(key) ?? placeTogether(part)
    used.set(key, placed)
    return placed
  })
  known = used
  self.postMessage({ number, layout: found } satisfies LayoutReply)
}
