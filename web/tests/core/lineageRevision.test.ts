import { expect, test } from 'vitest'
import { flowOf } from '../../src/core/flow'
import type { NodeId } from '../../src/core/ids'
import { lineageRevisionOf } from '../../src/core/lineageRevision'

const [SOURCE, LOAD, TABLE, OTHER] = ['source', 'load', 'table', 'other'] as NodeId[] as [
  NodeId,
  NodeId,
  NodeId,
  NodeId,
]
const FLOW = flowOf(new Map([SOURCE, LOAD, TABLE, OTHER].map((node) => [node, node])), [
  { origin: SOURCE, destination: LOAD },
  { origin: LOAD, destination: TABLE },
  { origin: SOURCE, destination: OTHER },
])

test.each([
  ['an upstream node', SOURCE, 3],
  ['the node itself', TABLE, 3],
  ['another dataset with the same source', OTHER, 0],
])('an event on %s raises the revision of the lineage: %s', (_, touched, newest) => {
  expect(lineageRevisionOf(FLOW, new Map([[touched, 3]]), TABLE)).toBe(newest)
})

test('the newest of several revisions counts', () => {
  const touched = new Map([
    [LOAD, 2],
    [SOURCE, 7],
    [TABLE, 5],
  ])

  expect(lineageRevisionOf(FLOW, touched, TABLE)).toBe(7)
})
