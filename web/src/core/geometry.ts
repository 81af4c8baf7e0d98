/** Points and boxes, in pixels at zoom 1. */

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

/** A rectangle by its upper left corner. */
export type Box = Point & Size

/** Undefined if there is no box. */
export function boundsOf(boxes: Iterable<Box>): Box | undefined {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y, width, height } of boxes) {
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x + width)
    bottom = Math.max(bottom, y + height)
  }
  return left > right ? undefined : { x: left, y: top, width: right - left, height: bottom - top }
}
