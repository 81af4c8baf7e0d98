import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { columnKey } from '../../src/core/ids'
import { columnPath, reachable } from '../../src/core/walk'
import { CSV, columnAnswer, DELAYS, FLIGHTS, REPORT } from '../lakehouse'

const edges = fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { maxLength: 40 })

test('what is reachable is the transitive closure, cycles or not', () => {
  fc.assert(
    fc.property(edges, (pairs) => {
      const reached = reachable(0, (node) => pairs.filter(([from]) => from === node).map(([, to]) => to))

      // Warshall's algorithm, an independent way to the closure.
      const closure = Array.from({ length: 13 }, (_, from) =>
        Array.from({ length: 13 }, (_, to) => from === to || pairs.some(([a, b]) => a === from && b === to)),
      )
      for (let k = 0; k < 13; k += 1)
        for (let i = 0; i < 13; i += 1)
          for (let j = 0; j < 13; j += 1) if (closure[i]?.[k] && closure[k]?.[j]) (closure[i] ?? [])[j] = true
      expect([...reached].sort()).toEqual(
        [...(closure[0] ?? []).keys()].filter((to) => closure[0]?.[to]).sort(),
      )
    }),
  )
})

describe('the path of a column', () => {
  const graph = columnGraph(columnAnswer())
  const key = (dataset: typeof CSV, column: string) => columnKey({ dataset, column })

  test('holds all that it is made from, and tells direct from indirect', () => {
    const { upstream, downstream } = columnPath(graph, key(DELAYS, 'avg_arr_delay'), true)

    expect(new Map(upstream.columns)).toEqual(
      new Map([
        [key(FLIGHTS, 'arr_delay'), 'direct'],
        [key(CSV, 'arr_delay'), 'direct'],
        [key(FLIGHTS, 'carrier'), 'indirect'],
        [key(CSV, 'carrier'), 'indirect'],
        [key(FLIGHTS, 'tailnum'), 'indirect'],
        [key(CSV, 'tailnum'), 'indirect'],
      ]),
    )
    expect(downstream.columns.size).toBe(0)
  })

  test('holds all that it reaches, across datasets', () => {
    const { downstream } = columnPath(graph, key(CSV, 'arr_delay'), true)

    expect([...downstream.columns.keys()]).toEqual([
      key(FLIGHTS, 'arr_delay'),
      key(DELAYS, 'avg_arr_delay'),
      key(REPORT, 'avg_arr_delay'),
    ])
  })

  test('follows no indirect edge when these are left out', () => {
    const { downstream } = columnPath(graph, key(FLIGHTS, 'tailnum'), false)

    expect(downstream.columns.size).toBe(0)
    expect(downstream.edges).toEqual([])
  })
})
