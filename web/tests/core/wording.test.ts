import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { columnKey } from '../../src/core/ids'
import { columnPath } from '../../src/core/walk'
import { byDataset, comesFrom, counted, goesInto } from '../../src/core/wording'
import { CSV, columnAnswer, DELAYS, FLIGHTS, REPORT } from '../lakehouse'

const GRAPH = columnGraph(columnAnswer())
const AVERAGE = columnKey({ dataset: DELAYS, column: 'avg_arr_delay' })

describe('the words for a column', () => {
  test('name what it is made from, values first', () => {
    expect(comesFrom(GRAPH, AVERAGE)).toEqual([
      { verb: 'aggregated from', direct: true, columns: [{ dataset: FLIGHTS, columns: ['arr_delay'] }] },
      { verb: 'grouped by', direct: false, columns: [{ dataset: FLIGHTS, columns: ['carrier'] }] },
      { verb: 'filtered by', direct: false, columns: [{ dataset: FLIGHTS, columns: ['tailnum'] }] },
    ])
  })

  test('name what it goes into, dataset by dataset', () => {
    expect(goesInto(GRAPH, columnKey({ dataset: FLIGHTS, column: 'arr_delay' }))).toEqual([
      {
        verb: 'is aggregated into',
        direct: true,
        columns: [
          { dataset: DELAYS, columns: ['avg_arr_delay'] },
          { dataset: REPORT, columns: ['avg_arr_delay'] },
        ],
      },
    ])
  })

  test('are none where nothing is known', () => {
    expect(comesFrom(GRAPH, columnKey({ dataset: CSV, column: 'carrier' }))).toEqual([])
  })

  test('tell direct from steering also for kinds that the spec does not name', () => {
    const odd = (type: 'DIRECT' | 'INDIRECT') => ({ type, subtype: 'ODD', description: null, masking: null })
    const source = { namespace: 'n', dataset: 'd', field: 'a' }
    const data = { namespace: 'n', dataset: 'd', field: 'b', fieldType: '' }
    const graph = columnGraph([
      { data: { ...data, inputFields: [{ ...source, transformations: [odd('DIRECT'), odd('INDIRECT')] }] } },
      { data: { ...data, field: 'c', inputFields: [source] } },
    ])
    const verbs = (column: string) => comesFrom(graph, columnKey({ dataset: 'dataset:n:d' as never, column }))

    expect(verbs('b').map(({ verb }) => verb)).toEqual(['derived from', 'steered by'])
    expect(verbs('c')).toMatchObject([{ verb: 'derived from', direct: true }])
  })
})

test('a reach is listed dataset by dataset, direct apart from indirect', () => {
  expect(byDataset(GRAPH, columnPath(GRAPH, AVERAGE, true).upstream)).toEqual([
    { dataset: FLIGHTS, direct: ['arr_delay'], indirect: ['carrier', 'tailnum'] },
    { dataset: CSV, direct: ['arr_delay'], indirect: ['carrier', 'tailnum'] },
  ])
})

test.each([
  [0, '0 columns'],
  [1, '1 column'],
  [2, '2 columns'],
])('%i is counted as %j', (count, words) => {
  expect(counted(count, 'column')).toBe(words)
})
