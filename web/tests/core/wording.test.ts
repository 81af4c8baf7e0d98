import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { columnKey } from '../../src/core/ids'
import { columnPath } from '../../src/core/walk'
import { byDataset, comesFrom, counted, goesInto } from '../../src/core/wording'
import { CSV, columnAnswer, DELAYS, FLIGHTS, REPORT, wholeAnswer, wideAnswer } from '../lakehouse'

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
    const graph = columnGraph({
      graph: [
        {
          data: { ...data, inputFields: [{ ...source, transformations: [odd('DIRECT'), odd('INDIRECT')] }] },
        },
        { data: { ...data, field: 'c', inputFields: [source] } },
      ],
    })
    const verbs = (column: string) => comesFrom(graph, columnKey({ dataset: 'dataset:n:d' as never, column }))

    expect(verbs('b').map(({ verb }) => verb)).toEqual(['derived from', 'steered by'])
    expect(verbs('c')).toMatchObject([{ verb: 'derived from', direct: true }])
  })
})

describe('the words for what is told of all columns of a dataset', () => {
  const names = Array.from({ length: 12 }, (_, n) => `c${n}`)

  test('come behind those for the column, and say that it affects every column', () => {
    const graph = columnGraph(wideAnswer(12))

    expect(comesFrom(graph, columnKey({ dataset: DELAYS, column: 'c7' }))).toEqual([
      { verb: 'copied from', direct: true, columns: [{ dataset: FLIGHTS, columns: ['c7'] }] },
      {
        verb: 'grouped by',
        direct: false,
        columns: [{ dataset: FLIGHTS, columns: names }],
        ofAll: 'which affect every column',
      },
    ])
    expect(comesFrom(columnGraph(wideAnswer(1)), columnKey({ dataset: DELAYS, column: 'c0' }))).toMatchObject(
      [{ ofAll: undefined }, { ofAll: 'which affects every column' }],
    )
  })

  test('name the whole of what a column goes into', () => {
    expect(goesInto(columnGraph(wideAnswer(12)), columnKey({ dataset: FLIGHTS, column: 'c7' }))).toEqual([
      { verb: 'is copied into', direct: true, columns: [{ dataset: DELAYS, columns: ['c7'] }] },
      { verb: 'groups', direct: false, columns: [{ dataset: DELAYS, columns: 'all' }] },
    ])
  })

  test('name the whole of what a column comes from', () => {
    const graph = columnGraph(wholeAnswer(12, 'hash'))

    expect(comesFrom(graph, columnKey({ dataset: DELAYS, column: 'hash' }))).toEqual([
      { verb: 'computed from', direct: true, columns: [{ dataset: FLIGHTS, columns: 'all' }] },
    ])
    expect(goesInto(graph, columnKey({ dataset: FLIGHTS, column: 'c3' }))).toEqual([
      {
        verb: 'goes into',
        direct: true,
        columns: [{ dataset: DELAYS, columns: ['hash'] }],
        ofAll: 'as every column does',
      },
    ])
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
