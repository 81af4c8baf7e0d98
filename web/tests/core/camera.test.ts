import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anchored, initialView, READABLE_ZOOM, reveal, revealPath, type View } from '../../src/core/camera'
import type { Box, Size } from '../../src/core/geometry'
import { boundsOf } from '../../src/core/geometry'

const CANVAS: Size = { width: 900, height: 700 }
const coordinate = fc.integer({ min: -5_000, max: 5_000 })
const box: fc.Arbitrary<Box> = fc.record({
  x: coordinate,
  y: coordinate,
  width: fc.integer({ min: 1, max: 400 }),
  height: fc.integer({ min: 1, max: 400 }),
})
const view: fc.Arbitrary<View> = fc.record({
  x: coordinate,
  y: coordinate,
  zoom: fc.double({ min: 0.1, max: 1.6, noNaN: true }),
})

function isSeen({ x, y, width, height }: Box, { x: dx, y: dy, zoom }: View): boolean {
  const [left, top] = [x * zoom + dx, y * zoom + dy]
  return left >= 0 && top >= 0 && left + width * zoom <= CANVAS.width && top + height * zoom <= CANVAS.height
}

describe('revealing a box', () => {
  test('brings it into sight at the same zoom', () => {
    fc.assert(
      fc.property(box, view, (wanted, before) => {
        const after = reveal(wanted, before, CANVAS)

        expect(isSeen(wanted, after)).toBe(true)
        expect(after.zoom).toBe(before.zoom)
      }),
    )
  })

  test('moves nothing if it is in sight', () => {
    const before = { x: 0, y: 0, zoom: 1 }

    expect(reveal({ x: 100, y: 100, width: 50, height: 50 }, before, CANVAS)).toBe(before)
  })

  test('shows the upper left corner of one larger than the canvas', () => {
    const { x, y } = reveal({ x: 0, y: 0, width: 100, height: 5_000 }, { x: 0, y: -900, zoom: 1 }, CANVAS)

    expect(x).toBeGreaterThanOrEqual(0)
    expect(y).toBeGreaterThan(0)
  })
})

describe('revealing a path', () => {
  const start = { x: 3_000, y: 0, width: 180, height: 60 }

  test('zooms out until all of it is in sight', () => {
    const path = { x: 1_600, y: 0, width: 1_580, height: 300 }

    const after = revealPath(path, start, { x: 0, y: 0, zoom: 1 }, CANVAS)

    expect(isSeen(path, after)).toBe(true)
  })

  test('zooms in to a readable size if the view was too small to read', () => {
    const path = { x: 0, y: 0, width: 400, height: 300 }

    const after = revealPath(path, start, { x: 0, y: 0, zoom: 0.1 }, CANVAS)

    expect(after.zoom).toBeGreaterThanOrEqual(READABLE_ZOOM)
    expect(isSeen(path, after)).toBe(true)
  })

  test('stays readable, and keeps the start in sight, if the path is too long', () => {
    const path = { x: 0, y: 0, width: 3_180, height: 300 }

    const after = revealPath(path, start, { x: 0, y: 0, zoom: 1 }, CANVAS)

    expect(after.zoom).toBe(READABLE_ZOOM)
    expect(isSeen(start, after)).toBe(true)
  })
})

test('the initial view shows the whole graph, at most at zoom 1', () => {
  fc.assert(
    fc.property(fc.array(box, { minLength: 1, maxLength: 8 }), (boxes) => {
      const bounds = boundsOf(boxes) ?? { x: 0, y: 0, width: 0, height: 0 }
      const { zoom, ...place } = initialView(bounds, CANVAS)
      const isLow = bounds.height * READABLE_ZOOM <= CANVAS.height

      expect(zoom).toBeLessThanOrEqual(1)
      if (zoom !== READABLE_ZOOM || !isLow)
        expect(boxes.every((each) => isSeen(each, { ...place, zoom }))).toBe(true)
    }),
  )
})

test('the initial view of a long low graph is readable', () => {
  expect(initialView({ x: 0, y: 0, width: 9_000, height: 200 }, CANVAS).zoom).toBe(READABLE_ZOOM)
})

test('an anchored point stays in its place on the screen', () => {
  fc.assert(
    fc.property(view, box, box, (before, from, to) => {
      const after = anchored(before, from, to)

      expect(to.x * after.zoom + after.x).toBeCloseTo(from.x * before.zoom + before.x, 6)
      expect(to.y * after.zoom + after.y).toBeCloseTo(from.y * before.zoom + before.y, 6)
    }),
  )
})

test('no boxes have no bounds', () => {
  expect(boundsOf([])).toBeUndefined()
})
