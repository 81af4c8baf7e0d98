import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { columnKey, datasetId } from '../../src/core/ids'
import { columnPath, reachable } from '../../src/core/walk'
import { CSV, columnAnswer, DELAYS, FLIGHTS, REPORT, wholeAnswer, wideAnswer } from '../lakehouse'

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

  test('holds everything upstream, and distinguishes direct and indirect', () => {
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

  test('holds everything downstream, across datasets', () => {
    const { downstream } = columnPath(graph, key(CSV, 'arr_delay'), true)

    expect([...downstream.columns.keys()]).toEqual([
      key(FLIGHTS, 'arr_delay'),
      key(DELAYS, 'avg_arr_delay'),
      key(REPORT, 'avg_arr_delay'),
    ])
  })

  test('follows no indirect edge if these are excluded', () => {
    const { downstream } = columnPath(graph, key(FLIGHTS, 'tailnum'), false)

    expect(downstream.columns.size).toBe(0)
    expect(downstream.edges).toEqual([])
  })
})

test.each([
  [19, true, false],
  [20, true, true],
  [20, false, false],
])('a path of %i steps, in a graph that is cut (%s), may continue: %s', (steps, isGraphCut, isCut) => {
  const dataset = (step: number) => datasetId('lake', `t${step}`)
  const graph = Array.from({ length: steps }, (_, step) => ({
    data: {
      namespace: 'lake',
      dataset: `t${step + 1}`,
      field: 'k',
      fieldType: '',
      inputFields: [{ namespace: 'lake', dataset: `t${step}`, field: 'k' }],
    },
  }))
  const columns = columnGraph({ graph, isCut: isGraphCut })

  const first = columnPath(columns, columnKey({ dataset: dataset(0), column: 'k' }), true)
  const last = columnPath(columns, columnKey({ dataset: dataset(steps), column: 'k' }), true)

  expect([first.upstream.isCut, first.downstream.isCut]).toEqual([false, isCut])
  expect([last.upstream.isCut, last.downstream.isCut]).toEqual([isCut, false])
})

describe('the path of a column over edges of a whole dataset', () => {
  const key = (dataset: typeof CSV, column: string) => columnKey({ dataset, column })

  test('holds everything that affects the dataset, and continues from there', () => {
    const { upstream } = columnPath(columnGraph(wideAnswer(12)), key(DELAYS, 'c7'), true)

    expect(upstream.columns.size).toBe(2 * 12)
    const strengths = ['c7', 'c3'].flatMap((name) => [FLIGHTS, CSV].map((id) => key(id, name)))
    expect(strengths.map((each) => upstream.columns.get(each))).toEqual([
      'direct',
      'direct',
      'indirect',
      'indirect',
    ])
    expect(upstream.columnwise).toEqual(new Set([DELAYS, FLIGHTS, CSV].map((id) => key(id, 'c7'))))
  })

  test('holds every column that a column affects', () => {
    const { downstream } = columnPath(columnGraph(wideAnswer(12)), key(CSV, 'c7'), true)

    const names = [...downstream.columns].map(([each, strength]) => [...JSON.parse(each), strength])
    expect(names).toHaveLength(1 + 12)
    expect(names).toContainEqual([DELAYS, 'c7', 'direct'])
    expect(names).toContainEqual([DELAYS, 'c11', 'indirect'])
  })

  test('leads from a column of a whole source to the target, and to no other column of the source', () => {
    const graph = columnGraph(wholeAnswer(12, 'hash'))

    const { upstream, downstream } = columnPath(graph, key(FLIGHTS, 'c3'), true)

    expect([...downstream.columns]).toEqual([[key(DELAYS, 'hash'), 'direct']])
    expect(upstream.columns.size).toBe(0)
    expect(columnPath(graph, key(DELAYS, 'hash'), true).upstream.columns.size).toBe(12)
  })

  test('does not lead from a source of all columns to a target of all columns', () => {
    const into = wideAnswer(12).datasetInputFields ?? []
    const aggregate = {
      namespace: 'file',
      dataset: '/out/report',
      field: 'a',
      fieldType: '',
      inputFields: [],
    }
    const all = { namespace: 'file', dataset: '/lake/marts/delays', field: null, targetField: 'a' }
    const outOf = [{ namespace: 'file', dataset: '/out/report', inputFields: [all] }]
    const answer = { isCut: false, graph: [...wideAnswer(12).graph, { data: aggregate }] }
    const graph = columnGraph({ ...answer, datasetInputFields: [...into, ...outOf] })

    const { upstream, downstream } = columnPath(graph, key(DELAYS, 'c7'), true)

    expect([...downstream.columns.keys()]).toEqual([key(REPORT, 'a')])
    expect([...upstream.columns.keys()].filter((each) => each.includes(DELAYS))).toEqual([])
  })

  test('follows no indirect edge if these are excluded, and grows linearly with the answer', () => {
    const direct = columnPath(columnGraph(wideAnswer(12)), key(DELAYS, 'c7'), false).upstream
    const graph = columnGraph(wideAnswer(1_000))
    const { upstream } = columnPath(graph, key(DELAYS, 'c7'), true)

    expect([...direct.columns.keys()]).toEqual([key(FLIGHTS, 'c7'), key(CSV, 'c7')])
    expect(direct.edges).toHaveLength(2)
    expect(upstream.edges).toHaveLength(1_000 + 1 + 1_000)
    expect([...graph.into.values()].flat()).toHaveLength(4 * 1_000)
  })
})
