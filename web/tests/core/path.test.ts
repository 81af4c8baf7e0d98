import { describe, expect, test } from 'vitest'
import { datasetId, type NodeId } from '../../src/core/ids'
import { litAtMost, litNeighbours, litPath, pathOver } from '../../src/core/path'
import { AGGREGATE, CSV, DELAYS, FLIGHTS, GRAPH, INGEST, REPORT } from '../lakehouse'

const step = (origin: NodeId, destination: NodeId) => ({ origin, destination })

describe('the path of a node', () => {
  test('has the edges that the service gives, and counts the datasets upstream and downstream', () => {
    const far = datasetId('far', 'away')
    const edges = [step(INGEST, FLIGHTS), step(CSV, INGEST), step(FLIGHTS, AGGREGATE), step(AGGREGATE, far)]

    const path = litPath(FLIGHTS, { edges, isCut: true })

    expect(path.nodes).toEqual(new Set([CSV, INGEST, FLIGHTS, AGGREGATE, far]))
    expect(path.reach).toEqual({ upstream: 1, downstream: 1, isCut: true })
  })

  test('holds the node itself, even if nothing else', () => {
    expect(litPath(CSV, { edges: [], isCut: false }).nodes).toEqual(new Set([CSV]))
  })

  test('counts the datasets of a cycle both upstream and downstream, but never the start', () => {
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

test('the neighbours of the start are on its path in any case', () => {
  expect(new Set(litNeighbours(GRAPH, FLIGHTS).edges)).toEqual(
    new Set([step(INGEST, FLIGHTS), step(FLIGHTS, AGGREGATE)]),
  )
})

test('the largest path goes from all inputs of a job to all outputs, but not from one output to another', () => {
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
