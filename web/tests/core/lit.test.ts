import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { EMPTY_GRAPH, merge } from '../../src/core/graph'
import { jobId } from '../../src/core/ids'
import { lightUp } from '../../src/core/lit'
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
} from '../lakehouse'

const WITHOUT_JOBS = merge(
  EMPTY_GRAPH,
  [CSV, FLIGHTS, DELAYS, REPORT].map((id) => datasetNode(id)),
)
const COLUMNS = columnGraph(columnAnswer())
const START = { dataset: DELAYS, column: 'avg_arr_delay' }

describe('lighting up a column', () => {
  test('lights its columns in every dataset, and the jobs between', () => {
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

  test('keeps a direct step apart from the indirect one that it leads to', () => {
    const lit = lightUp(GRAPH, COLUMNS, START, true)

    const copy = lit.segments.find(({ from }) => from.node === CSV && from.column === 'carrier')
    expect(copy).toMatchObject({ kind: 'direct', strength: 'indirect' })
  })

  test('goes from column to column where no job is known between two datasets', () => {
    const lit = lightUp(WITHOUT_JOBS, COLUMNS, START, false)

    expect(lit.jobs.size).toBe(0)
    expect(lit.segments.map(({ from, to }) => [from.node, to.node])).toEqual([
      [FLIGHTS, DELAYS],
      [CSV, FLIGHTS],
    ])
  })

  test('of several jobs between two datasets lights those on the path of the dataset', () => {
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

  test('lights at least the column itself, if nothing is known about it', () => {
    const lit = lightUp(GRAPH, COLUMNS, { dataset: DELAYS, column: 'never_seen' }, true)

    expect([...lit.columns]).toEqual([[DELAYS, new Map([['never_seen', 'start']])]])
    expect(lit.segments).toEqual([])
  })
})
