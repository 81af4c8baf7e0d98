import { expect, test } from 'vitest'
import { EMPTY_GRAPH, merge } from '../../src/core/graph'
import { neighboursIn } from '../../src/core/neighbours'
import { AGGREGATE, DELAYS, datasetNode, FLIGHTS, GRAPH, REPORT } from '../lakehouse'

test('the neighbours of a node in one direction are sorted by name, and have their names', () => {
  const found = neighboursIn(GRAPH, AGGREGATE, 'downstream', 'DATASET')

  expect(found.map(({ nodeId }) => nodeId)).toEqual([DELAYS, REPORT])
  expect(found[0]?.symlinks).toEqual([{ namespace: 'lake', name: 'lake.marts.delays' }])
})

test('jobs and datasets among the neighbours of a dataset are distinguished', () => {
  const view = { ...datasetNode(DELAYS, {}), inEdges: [{ origin: FLIGHTS, destination: DELAYS }] }
  const graph = merge(EMPTY_GRAPH, [...GRAPH.wire.values(), view])

  expect(neighboursIn(graph, DELAYS, 'upstream', 'DATASET').map(({ nodeId }) => nodeId)).toEqual([FLIGHTS])
  expect(neighboursIn(graph, DELAYS, 'upstream', 'JOB').map(({ nodeId }) => nodeId)).toEqual([AGGREGATE])
})
