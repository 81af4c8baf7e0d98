import { describe, expect, test } from 'vitest'
import { labelText } from '../../src/core/labels'
import { addFound, searchGraph, textForService } from '../../src/core/search'
import { DELAYS, GRAPH } from '../lakehouse'

const found = (query: string) => searchGraph(GRAPH, query, 10).map(({ label }) => labelText(label))

describe('searching the graph', () => {
  test.each([
    ['fli', ['lake.raw.flights', 'data/flights.csv']],
    ['FLIGHTS', ['lake.raw.flights', 'data/flights.csv']],
    ['raw flights', ['lake.raw.flights']],
    ['ingest', ['ingest']],
    ['lake', ['lake.marts.delays', 'lake.raw.flights']],
    ['', []],
    ['   ', []],
    ['nowhere', []],
  ])('%j finds %j', (query, expected) => {
    expect(new Set(found(query))).toEqual(new Set(expected))
  })

  test('ranks a whole name before a prefix, and that before a substring', () => {
    expect(found('flights')[0]).toBe('lake.raw.flights')
    expect(found('delays')[0]).toBe('lake.marts.delays')
  })

  test('gives no more hits than the limit', () => {
    expect(searchGraph(GRAPH, 'e', 2)).toHaveLength(2)
  })

  test.each([
    [' hub  reader 07 ', 'hub%reader%07'],
    ['hub', 'hub'],
    [' dataset:lake:my table', 'dataset:lake:my table'],
  ])('asks the service for %j as %j', (query, asked) => {
    expect(textForService(query)).toBe(asked)
  })

  test('adds only those of the service’s results that are not among the hits', () => {
    const own = searchGraph(GRAPH, 'delays', 10)
    const far = {
      namespace: 'x',
      name: 'delays_2',
      nodeId: 'dataset:x:delays_2' as never,
      type: 'DATASET',
    } as const

    const all = addFound(own, [{ ...far, nodeId: DELAYS }, far])

    expect(all.map(({ nodeId }) => nodeId)).toEqual([DELAYS, far.nodeId])
  })
})
