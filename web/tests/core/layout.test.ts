import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WireEdge } from '../../src/api/types'
import type { Box } from '../../src/core/geometry'
import type { NodeId } from '../../src/core/ids'
import { layout, placeTogether } from '../../src/core/layout'
import { edgeKey, type Shape, shapeKey } from '../../src/core/shape'

const id = (n: number) => `node ${n}` as NodeId

/** Edges from lower to higher numbers: a graph without cycles. */
const shape = fc
  .record({
    heights: fc.array(fc.integer({ min: 20, max: 400 }), { minLength: 1, maxLength: 14 }),
    pairs: fc.array(fc.tuple(fc.nat(13), fc.nat(13)), { maxLength: 24 }),
  })
  .map(({ heights, pairs }): Shape => {
    const boxes = new Map(heights.map((height, n) => [id(n), { width: 180, height }]))
    const ends = pairs.map((pair) => pair.map((end) => end % heights.length)).filter(([a, b]) => a !== b)
    const edges = new Map(
      ends
        .map(([a = 0, b = 0]): WireEdge => ({ origin: id(Math.min(a, b)), destination: id(Math.max(a, b)) }))
        .map((edge) => [edgeKey(edge), edge]),
    )
    return { boxes, edges: [...edges.values()] }
  })

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

test('no two boxes overlap', () => {
  fc.assert(
    fc.property(shape, (given) => {
      const boxes = [...layout(given).boxes.values()]

      expect(boxes.flatMap((a, n) => boxes.slice(n + 1).filter((b) => overlap(a, b)))).toEqual([])
    }),
    { numRuns: 40 },
  )
})

test('every edge goes from left to right', () => {
  fc.assert(
    fc.property(shape, (given) => {
      const { boxes } = layout(given)

      for (const { origin, destination } of given.edges) {
        const [from, to] = [boxes.get(origin), boxes.get(destination)]
        expect(from && to && from.x + from.width < to.x).toBe(true)
      }
    }),
    { numRuns: 40 },
  )
})

test('a large graph is laid out by the same rules', () => {
  const ids = Array.from({ length: 200 }, (_, n) => id(n))
  const boxes = new Map(ids.map((each) => [each, { width: 180, height: 46 }]))
  const edges = ids.flatMap((destination, n) =>
    [n - 5, n - 8].filter((from) => from >= 0).map((from): WireEdge => ({ origin: id(from), destination })),
  )
  const large: Shape = { boxes, edges }

  const placed = layout(large).boxes

  const all = [...placed.values()]
  expect(all.flatMap((a, n) => all.slice(n + 1).filter((b) => overlap(a, b)))).toEqual([])
  for (const { origin, destination } of edges) {
    const [from, to] = [placed.get(origin), placed.get(destination)]
    expect(from && to && from.x + from.width < to.x).toBe(true)
  }
})

test('an edge that passes a rank passes between its boxes', () => {
  let passes = 0
  fc.assert(
    fc.property(shape, (given) => {
      const { boxes, bends } = layout(given)

      for (const points of bends.values()) {
        for (let n = 0; n + 1 < points.length; n += 2) {
          const [from, to] = [points[n], points[n + 1]]
          if (!from || !to) continue
          const pass = { x: from.x, y: from.y - 0.5, width: to.x - from.x, height: 1 }
          expect([...boxes.values()].filter((box) => overlap(box, pass))).toEqual([])
          passes += 1
        }
      }
    }),
    { numRuns: 40 },
  )
  expect(passes).toBeGreaterThan(0)
})

test('the order of boxes and edges does not matter', () => {
  fc.assert(
    fc.property(shape, (given) => {
      const turned = { boxes: new Map([...given.boxes].reverse()), edges: given.edges.toReversed() }

      expect(layout(turned).boxes).toEqual(layout(given).boxes)
    }),
    { numRuns: 20 },
  )
})

test('a cycle is laid out too', () => {
  const boxes = new Map([1, 2].map((n) => [id(n), { width: 100, height: 40 }]))
  const edges = [
    { origin: id(1), destination: id(2) },
    { origin: id(2), destination: id(1) },
  ]

  expect(layout({ boxes, edges }).boxes.size).toBe(2)
})

test('the key of a shape changes only with its boxes or edges', () => {
  const size = { width: 100, height: 40 }
  const one: Shape = { boxes: new Map([[id(1), size]]), edges: [] }
  const same: Shape = { boxes: new Map([[id(1), { ...size }]]), edges: [] }
  const taller: Shape = { boxes: new Map([[id(1), { ...size, height: 62 }]]), edges: [] }

  expect(shapeKey(same)).toBe(shapeKey(one))
  expect(shapeKey(taller)).not.toBe(shapeKey(one))
})

test('parts that are not connected are laid out separately', () => {
  const size = { width: 100, height: 40 }
  const boxes = new Map([1, 2, 3, 4, 5].map((n) => [id(n), size]))
  const edges = [
    { origin: id(1), destination: id(2) },
    { origin: id(4), destination: id(3) },
  ]
  const parts: NodeId[][] = []

  layout({ boxes, edges }, (part) => {
    parts.push([...part.boxes.keys()])
    return placeTogether(part)
  })

  expect(parts).toEqual([[id(1), id(2)], [id(3), id(4)], [id(5)]])
})
