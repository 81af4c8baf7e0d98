/** The view of the graph: it maps a point p of the graph to `p * zoom + (x, y)` on the canvas. */

import type { Box, Point, Size } from './geometry'

export type View = Point & { readonly zoom: number }

/** The smallest zoom at which names are readable. */
export const READABLE_ZOOM = 0.5
/** The zoom to show a single node, or a path, if the view is too small to read. */
export const CLOSE_ZOOM = 0.9
const MARGIN = 18

/** All of `bounds`, as large as fits, at most at `maxZoom`. */
function overview(bounds: Box, canvas: Size, maxZoom = 1): View {
  const { width, height } = inner(canvas)
  return centred(bounds, canvas, Math.min(width / bounds.width, height / bounds.height, maxZoom))
}

/** The initial view: the whole graph, or, if it is long but low, its left end at a readable size. */
export function initialView(bounds: Box, canvas: Size): View {
  const all = overview(bounds, canvas)
  if (all.zoom >= READABLE_ZOOM || bounds.height * READABLE_ZOOM > canvas.height) return all
  return { ...centred(bounds, canvas, READABLE_ZOOM), x: MARGIN - bounds.x * READABLE_ZOOM }
}

export function centred({ x, y, width, height }: Box, canvas: Size, zoom: number): View {
  return {
    x: canvas.width / 2 - (x + width / 2) * zoom,
    y: canvas.height / 2 - (y + height / 2) * zoom,
    zoom,
  }
}

/** The smallest move that brings `box` into sight; its upper left corner if it is larger than the canvas. */
export function reveal(box: Box, view: View, canvas: Size): View {
  const shift = (low: number, high: number, room: number) => {
    if (low < MARGIN || high - low > room - 2 * MARGIN) return MARGIN - low
    return Math.min(0, room - MARGIN - high)
  }
  const [left, top] = [box.x * view.zoom + view.x, box.y * view.zoom + view.y]
  const isInSight = contains(box, view, canvas)
  return isInSight
    ? view
    : {
        x: view.x + shift(left, left + box.width * view.zoom, canvas.width),
        y: view.y + shift(top, top + box.height * view.zoom, canvas.height),
        zoom: view.zoom,
      }
}

/** Brings all of `path` into sight, zooming if needed; if it does not fit at a readable size, `start` and its surroundings. */
export function revealPath(path: Box, start: Box, view: View, canvas: Size): View {
  const isReadable = view.zoom >= READABLE_ZOOM
  if (isReadable && contains(path, view, canvas)) return view
  const all = overview(path, canvas, isReadable ? view.zoom : CLOSE_ZOOM)
  if (all.zoom < READABLE_ZOOM) return reveal(start, centred(path, canvas, READABLE_ZOOM), canvas)
  return isReadable && all.zoom === view.zoom ? reveal(path, view, canvas) : all
}

/** The view in which `after` is where `before` was on the canvas. */
export function anchored(view: View, before: Point, after: Point): View {
  return {
    x: view.x - (after.x - before.x) * view.zoom,
    y: view.y - (after.y - before.y) * view.zoom,
    zoom: view.zoom,
  }
}

function contains({ x, y, width, height }: Box, view: View, canvas: Size): boolean {
  const [left, top] = [x * view.zoom + view.x, y * view.zoom + view.y]
  const [right, bottom] = [left + width * view.zoom, top + height * view.zoom]
  return left >= 0 && top >= 0 && right <= canvas.width && bottom <= canvas.height
}

function inner({ width, height }: Size): Size {
  return { width: Math.max(1, width - 2 * MARGIN), height: Math.max(1, height - 2 * MARGIN) }
}
