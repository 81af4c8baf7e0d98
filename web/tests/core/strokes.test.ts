import { describe, expect, test } from 'vitest'
import { cardsOf, HEAD_HEIGHT, ROW_HEIGHT, shapeOf } from '../../src/core/cards'
import { columnGraph } from '../../src/core/columns'
import type { NodeId } from '../../src/core/ids'
import { layout } from '../../src/core/layout'
import { lightUp } from '../../src/core/lit'
import { litPath } from '../../src/core/path'
import { columnStrokes, type Drawing, flowStrokes, provisional } from '../../src/core/strokes'
import { AGGREGATE, CSV, columnAnswer, DELAYS, FLIGHTS, GRAPH, INGEST, REPORT } from '../lakehouse'

const LIT = lightUp(GRAPH, columnGraph(columnAnswer()), { dataset: DELAYS, column: 'avg_arr_delay' }, true)

function drawing(lit?: typeof LIT): Drawing {
  const cards = cardsOf(GRAPH, { unfolded: new Set([DELAYS]), lit })
  return { graph: GRAPH, cards, layout: layout(shapeOf(GRAPH, cards)) }
}

describe('the lines between tables', () => {
  test('are highlighted and on top on the path of the open node', () => {
    const path = litPath(FLIGHTS, {
      edges: [
        { origin: CSV, destination: INGEST },
        { origin: INGEST, destination: FLIGHTS },
      ],
      isCut: false,
    })

    const tones = flowStrokes(drawing(), path).map(({ tone }) => tone)

    expect(tones).toEqual(['dim', 'dim', 'dim', 'related', 'related'])
    expect(new Set(flowStrokes(drawing(), undefined).map(({ tone }) => tone))).toEqual(new Set(['plain']))
  })

  test('are dimmed while a column is lit', () => {
    const strokes = flowStrokes(drawing(LIT), LIT)

    expect(new Set(strokes.map(({ tone }) => tone))).toEqual(new Set(['dim']))
  })
})

test('a line back to an input of its job runs beneath both boxes', () => {
  const size = { width: 100, height: 40 }
  const boxes = new Map([
    [FLIGHTS, { x: 0, y: 0, ...size }],
    [INGEST, { x: 140, y: 10, ...size }],
  ])
  const targets = new Map([
    [FLIGHTS, [INGEST]],
    [INGEST, [FLIGHTS]],
  ])
  const given = { ...drawing(), graph: { ...GRAPH, targets }, layout: { boxes, bends: new Map() } }

  const [there, back] = flowStrokes(given, undefined).map(({ d }) => d)

  expect(there).not.toContain(' 57')
  expect(back).toMatch(/^M240 \S+C260 \S+ 260 57 240 57C120 57 120 57 0 57C-20 57 -20 \S+ 0 \S+$/)
})

test('a line back in a cycle is not hidden by the boxes at its ends', () => {
  const size = { width: 100, height: 40 }
  const ids = [CSV, INGEST, FLIGHTS, AGGREGATE]
  const edges = ids.map((origin, at) => ({ origin, destination: ids[(at + 1) % ids.length] as NodeId }))
  const shape = { boxes: new Map(ids.map((id) => [id, size])), edges }
  const placed = layout(shape)
  const targets = new Map(edges.map(({ origin, destination }) => [origin, [destination]]))
  const given = { ...drawing(), graph: { ...GRAPH, targets }, layout: placed }

  const strokes = flowStrokes(given, undefined)

  expect(strokes).toHaveLength(ids.length)
  const hidden = strokes.flatMap(({ d }) =>
    pointsOn(d).filter(([x, y]) =>
      [...placed.boxes.values()].some(
        (box) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height,
      ),
    ),
  )
  expect(hidden).toEqual([])
})

/** Points of a path of cubic Bézier curves, close together. */
function pointsOn(d: string): (readonly [x: number, y: number])[] {
  const numbers = [...d.matchAll(/-?[\d.]+/g)].map(([number]) => Number(number))
  const pieces = (numbers.length - 2) / 6
  return Array.from({ length: pieces }, (_, piece) => numbers.slice(6 * piece, 6 * piece + 8)).flatMap(
    (ends) =>
      Array.from({ length: 51 }, (_, at) => {
        const t = at / 50
        const weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3]
        const along = (axis: number) =>
          weights.reduce((sum, weight, n) => sum + weight * (ends[2 * n + axis] ?? 0), 0)
        return [along(0), along(1)] as const
      }),
  )
}

describe('the lines of a lit column', () => {
  test('end at the row of the column', () => {
    const given = drawing(LIT)
    const box = given.layout.boxes.get(DELAYS)
    const rowOfAverage = 1
    const y = (box?.y ?? 0) + HEAD_HEIGHT + (rowOfAverage + 0.5) * ROW_HEIGHT

    const last = columnStrokes(given, LIT).find(({ key }) => key.includes(DELAYS))

    expect(last?.d.endsWith(`${box?.x} ${Math.round(y * 10) / 10}`)).toBe(true)
  })

  test('distinguish direct and indirect, the most important on top', () => {
    const strokes = columnStrokes(drawing(LIT), LIT).map(({ kind, tone }) => `${kind} ${tone}`)

    expect(new Set(strokes)).toEqual(new Set(['indirect plain', 'direct soft', 'direct plain']))
    expect(strokes.at(-1)).toBe('direct plain')
  })
})

test('until the new layout arrives, only cards of the same size are replaced', () => {
  const old = drawing()
  const lit = cardsOf(GRAPH, { unfolded: new Set([DELAYS]), lit: LIT })

  const between = provisional(old, lit)

  expect(between.cards.get(REPORT)?.dim).toBe(true)
  expect(between.cards.get(DELAYS)?.rows.map(({ glow }) => glow)).toEqual(['dim', 'start'])
  expect(between.cards.get(FLIGHTS)?.rows).toEqual([])
  expect(
    columnStrokes(between, LIT).every(({ key }) => !key.includes('arr_delay') || key.includes(DELAYS)),
  ).toBe(true)
})
