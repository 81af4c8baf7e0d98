import { describe, expect, test } from 'vitest'
import { datasetId, type NodeId } from '../../src/core/ids'
import { litAtMost, litNeighbours, litPath, pathOver } from '../../src/core/path'
import { AGGREGATE, CSV, DELAYS, FLIGHTS, GRAPH, INGEST, REPORT } from '../lakehouse'

const step = (origin: NodeId, destination: NodeId) => ({ origin, destination })

describe('the path of a node', () => {
  test('is made of the edges that the service tells, and counts the datasets on each side', () => {
    const far = datasetId('far', 'away')
    const edges = [step(INGEST, FLIGHTS), step(CSV, INGEST), step(FLIGHTS, AGGREGATE), step(AGGREGATE, far)]

    const path = litPath(FLIGHTS, { edges, isCut: true })

    expect(path.nodes).toEqual(new Set([CSV, INGEST, FLIGHTS, AGGREGATE, far]))
    expect(path.reach).toEqual({ upstream: 1, downstream: 1, isCut: true })
  })

  test('holds the node itself, though nothing else is on it', () => {
    expect(litPath(CSV, { edges: [], isCut: false }).nodes).toEqual(new Set([CSV]))
  })

  test('counts what lies on a cycle on both sides, and the start on none', () => {
    const edges = [
      step(FLIGHTS, AGGREGATE),
      step(AGGREGATE, DELAYS),
      step(DELAYS, INGEST),
      step(INGEST, FLIGHTS),
    ]

    expect(litPath(FLIGHTS, { edges, isCut: false }).reach).toEqual({
      upstream: 1,
      downstream: 1,
      isCut: false,
    })
  })
})

test('what is certain of a path is what is next to its start', () => {
  expect(new Set(litNeighbours(GRAPH, FLIGHTS).edges)).toEqual(
    new Set([step(INGEST, FLIGHTS), step(FLIGHTS, AGGREGATE)]),
  )
})

test('at most a path goes from all that a job reads into all that it writes, and not back into what else it writes', () => {
  const path = litAtMost(GRAPH, REPORT)

  expect(path.nodes).toEqual(new Set([CSV, INGEST, FLIGHTS, AGGREGATE, REPORT]))
  expect(path.edges).not.toContainEqual(step(AGGREGATE, DELAYS))
})

test('a path leads over the piles that hold a part of it', () => {
  const pile = 'pile:targets:x' as NodeId
  const path = litAtMost(GRAPH, REPORT)

  const over = pathOver(path, (node) => (node === AGGREGATE ? pile : node))

  expect(over.nodes).toEqual(new Set([CSV, INGEST, FLIGHTS, pile, REPORT]))
  expect(over.edges).toContainEqual(step(pile, REPORT))
})
