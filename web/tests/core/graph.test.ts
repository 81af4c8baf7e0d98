import fc from 'fast-check'
import { expect, test } from 'vitest'
import { edgesOf } from '../../src/core/flow'
import { EMPTY_GRAPH, merge } from '../../src/core/graph'
import {
  AGGREGATE,
  CSV,
  DATASETS,
  DELAYS,
  datasetNode,
  FLIGHTS,
  INGEST,
  JOBS,
  jobNode,
  REPORT,
} from '../lakehouse'

const ALL = [
  ...Object.keys(DATASETS).map((id) => datasetNode(id as never)),
  ...Object.keys(JOBS).map((id) => jobNode(id as never)),
]

function sorted(graph: ReturnType<typeof merge>): string[] {
  return edgesOf(graph)
    .map(({ origin, destination }) => `${origin} > ${destination}`)
    .sort()
}

test('the graph has every edge that a node lists, once', () => {
  const graph = merge(EMPTY_GRAPH, ALL)

  expect(sorted(graph)).toEqual(
    [
      [CSV, INGEST],
      [INGEST, FLIGHTS],
      [FLIGHTS, AGGREGATE],
      [AGGREGATE, DELAYS],
      [AGGREGATE, REPORT],
    ]
      .map(([from, to]) => `${from} > ${to}`)
      .sort(),
  )
  expect(graph.sources.get(AGGREGATE)).toEqual([FLIGHTS])
})

test('answers merge to the same graph in any order and any batches', () => {
  const whole = sorted(merge(EMPTY_GRAPH, ALL))
  const shuffled = fc.shuffledSubarray(ALL, { minLength: ALL.length })

  fc.assert(
    fc.property(shuffled, fc.nat(ALL.length), (nodes, cut) => {
      const graph = merge(merge(EMPTY_GRAPH, nodes.slice(0, cut)), nodes.slice(cut))

      expect(sorted(graph)).toEqual(whole)
    }),
  )
})

test('an edge to a missing node is added once the node arrives', () => {
  const half = merge(EMPTY_GRAPH, [jobNode(INGEST), datasetNode(CSV)])
  const whole = merge(half, [datasetNode(FLIGHTS)])

  expect(sorted(half)).toEqual([`${CSV} > ${INGEST}`])
  expect(whole.targets.get(INGEST)).toEqual([FLIGHTS])
})
