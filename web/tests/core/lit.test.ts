import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { EMPTY_GRAPH, merge } from '../../src/core/graph'
import { jobId } from '../../src/core/ids'
import { isLit, lightUp } from '../../src/core/lit'
import { litPath } from '../../src/core/path'
import {
  AGGREGATE,
  CSV,
  columnAnswer,
  DELAYS,
  datasetNode,
  FLIGHTS,
  GRAPH,
  INGEST,
  JOBS,
  jobNode,
  REPORT,
  wholeAnswer,
  wideAnswer,
} from '../lakehouse'

const WITHOUT_JOBS = merge(
  EMPTY_GRAPH,
  [CSV, FLIGHTS, DELAYS, REPORT].map((id) => datasetNode(id)),
)
const COLUMNS = columnGraph(columnAnswer())
const START = { dataset: DELAYS, column: 'avg_arr_delay' }

describe('lighting up a column', () => {
  test('lights its columns in every dataset, and the jobs between them', () => {
    const lit = lightUp(GRAPH, COLUMNS, START, true)

    expect(lit.columns.get(DELAYS)).toEqual(new Map([['avg_arr_delay', 'start']]))
    expect(lit.columns.get(FLIGHTS)).toEqual(
      new Map([
        ['arr_delay', 'direct'],
        ['carrier', 'indirect'],
        ['tailnum', 'indirect'],
      ]),
    )
    expect(lit.jobs).toEqual(new Set([AGGREGATE, INGEST]))
    expect(lit.columns.has(REPORT)).toBe(false)
  })

  test('draws each column to the job and the job to each column, once', () => {
    const lit = lightUp(GRAPH, COLUMNS, START, true)

    const into = lit.segments.filter(({ to }) => to.node === DELAYS)
    expect(into).toEqual([
      {
        from: { node: AGGREGATE, column: undefined },
        to: { node: DELAYS, column: 'avg_arr_delay' },
        kind: 'direct',
        strength: 'direct',
      },
    ])
    expect(lit.segments.filter(({ to }) => to.node === AGGREGATE)).toHaveLength(3)
  })

  test('distinguishes a direct step from an indirect one behind it', () => {
    const lit = lightUp(GRAPH, COLUMNS, START, true)

    const copy = lit.segments.find(({ from }) => from.node === CSV && from.column === 'carrier')
    expect(copy).toMatchObject({ kind: 'direct', strength: 'indirect' })
  })

  test('draws from column to column if no job is known between two datasets', () => {
    const lit = lightUp(WITHOUT_JOBS, COLUMNS, START, false)

    expect(lit.jobs.size).toBe(0)
    expect(lit.segments.map(({ from, to }) => [from.node, to.node])).toEqual([
      [FLIGHTS, DELAYS],
      [CSV, FLIGHTS],
    ])
  })

  test('lights, of several jobs between two datasets, those on the path of the dataset', () => {
    const other = jobId('demo', 'other')
    const jobs = { ...JOBS, [other]: { reads: [FLIGHTS], writes: [DELAYS], runs: [] } }
    const ids = [CSV, FLIGHTS, DELAYS, REPORT]
    const nodes = [...ids.map((id) => datasetNode(id, jobs)), jobNode(AGGREGATE, jobs), jobNode(other, jobs)]
    const graph = merge(EMPTY_GRAPH, nodes)
    const edges = [
      { origin: FLIGHTS, destination: AGGREGATE },
      { origin: AGGREGATE, destination: DELAYS },
    ]

    const whole = litPath(DELAYS, { edges, isCut: false })

    expect(lightUp(graph, COLUMNS, START, true, whole).jobs).toEqual(new Set([AGGREGATE]))
    expect(lightUp(graph, COLUMNS, START, true).jobs).toEqual(new Set([AGGREGATE, other]))
  })

  test('lights at least the column itself, even without lineage', () => {
    const lit = lightUp(GRAPH, COLUMNS, { dataset: DELAYS, column: 'never_seen' }, true)

    expect([...lit.columns]).toEqual([[DELAYS, new Map([['never_seen', 'start']])]])
    expect(lit.segments).toEqual([])
  })
})

describe('lighting up a column with very many sources in one dataset', () => {
  const from = (size: number) => {
    const names = Array.from({ length: size }, (_, n) => `c${n}`)
    const data = { namespace: 'file', dataset: '/lake/marts/delays', field: 'hash', fieldType: 'string' }
    const source = { namespace: 'file', dataset: '/lake/raw/flights' }
    const inputFields = names.map((field) => ({ ...source, field }))
    return columnGraph({ isCut: false, graph: [{ data: { ...data, inputFields } }] })
  }

  test('draws a line for each of the first, and one for the others, from the head of the card', () => {
    const lit = lightUp(GRAPH, from(500), { dataset: DELAYS, column: 'hash' }, true)

    expect(lit.columns.get(FLIGHTS)?.size).toBe(500)
    expect(lit.collapsed.get(FLIGHTS)?.size).toBe(480)
    expect(lit.collapsed.get(FLIGHTS)?.has('c0')).toBe(false)
    const begins = lit.segments.filter(({ from: { node } }) => node === FLIGHTS)
    expect(begins.map(({ from: { column } }) => column)).toContain(undefined)
    expect(begins).toHaveLength(21)
  })

  test('draws a line for each if there is room for all', () => {
    expect(lightUp(GRAPH, from(20), { dataset: DELAYS, column: 'hash' }, true).collapsed.size).toBe(0)
  })
})

describe('lighting up a column of a dataset with edges of the whole dataset', () => {
  const ends = ({ segments }: ReturnType<typeof lightUp>) =>
    segments.map(({ from, to, kind }) => [from.node, from.column, to.node, to.column, kind])

  test('draws one line for what affects all columns, from head to head', () => {
    const lit = lightUp(GRAPH, columnGraph(wideAnswer(40)), { dataset: DELAYS, column: 'c7' }, true)

    expect(ends(lit)).toEqual([
      [FLIGHTS, 'c7', AGGREGATE, undefined, 'direct'],
      [AGGREGATE, undefined, DELAYS, 'c7', 'direct'],
      [CSV, 'c7', INGEST, undefined, 'direct'],
      [INGEST, undefined, FLIGHTS, 'c7', 'direct'],
      [FLIGHTS, undefined, AGGREGATE, undefined, 'indirect'],
      [AGGREGATE, undefined, DELAYS, undefined, 'indirect'],
      [CSV, undefined, INGEST, undefined, 'direct'],
      [INGEST, undefined, FLIGHTS, undefined, 'direct'],
    ])
    expect(lit.columns.get(FLIGHTS)?.size).toBe(40)
    expect([...lit.collapsed].map(([node, names]) => [node, names.size, names.has('c7')])).toEqual([
      [FLIGHTS, 39, false],
      [CSV, 39, false],
    ])
    expect(lit.jobs).toEqual(new Set([AGGREGATE, INGEST]))
  })

  test('draws one line for all columns that a column affects, too', () => {
    const lit = lightUp(GRAPH, columnGraph(wideAnswer(40)), { dataset: FLIGHTS, column: 'c7' }, true)

    expect(ends(lit).filter(([, , to]) => to === DELAYS)).toEqual([
      [AGGREGATE, undefined, DELAYS, 'c7', 'direct'],
      [AGGREGATE, undefined, DELAYS, undefined, 'indirect'],
    ])
    expect(lit.columns.get(DELAYS)?.size).toBe(40)
    expect([...(lit.columns.get(FLIGHTS)?.keys() ?? [])]).toEqual(['c7'])
  })

  test('draws a line for each of a few columns that affect all columns', () => {
    const lit = lightUp(GRAPH, columnGraph(wideAnswer(4)), { dataset: DELAYS, column: 'c1' }, true)

    expect(ends(lit).filter(([from]) => from === FLIGHTS)).toHaveLength(4)
    expect(lit.collapsed.size).toBe(0)
  })

  test('draws a whole source from its head, even without known columns', () => {
    const { graph, ...rest } = wholeAnswer(12, 'hash')
    const bare = { ...rest, graph: graph.filter(({ data }) => data.field === 'hash') }

    const [known, unknown] = [{ ...rest, graph }, bare].map((answer) =>
      lightUp(GRAPH, columnGraph(answer), { dataset: DELAYS, column: 'hash' }, true),
    )

    expect(known && ends(known)).toEqual(unknown && ends(unknown))
    expect(known && ends(known)[0]).toEqual([FLIGHTS, undefined, AGGREGATE, undefined, 'direct'])
    expect([known, unknown].map((lit) => lit && isLit(lit, FLIGHTS))).toEqual([true, true])
  })
})
