import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { columnKey, datasetId } from '../../src/core/ids'
import { columnPath } from '../../src/core/walk'
import {
  byDataset,
  comesFrom,
  counted,
  goesInto,
  mentioned,
  type Phrase,
  relabelled,
} from '../../src/core/wording'
import { CSV, columnAnswer, DELAYS, FLIGHTS, REPORT, wholeAnswer, wideAnswer } from '../lakehouse'

const GRAPH = columnGraph(columnAnswer())
const AVERAGE = columnKey({ dataset: DELAYS, column: 'avg_arr_delay' })

describe('the phrases for a column', () => {
  test('name its sources, direct ones first', () => {
    expect(comesFrom(GRAPH, AVERAGE)).toEqual([
      { verb: 'aggregated from', direct: true, columns: [{ dataset: FLIGHTS, columns: ['arr_delay'] }] },
      { verb: 'grouped by', direct: false, columns: [{ dataset: FLIGHTS, columns: ['carrier'] }] },
      { verb: 'filtered by', direct: false, columns: [{ dataset: FLIGHTS, columns: ['tailnum'] }] },
    ])
  })

  test('name its targets by dataset', () => {
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

  test('are empty without lineage', () => {
    expect(comesFrom(GRAPH, columnKey({ dataset: CSV, column: 'carrier' }))).toEqual([])
  })

  test('distinguish direct and indirect also for subtypes that the spec does not have', () => {
    const odd = (type: 'DIRECT' | 'INDIRECT') => ({ type, subtype: 'ODD', description: null, masking: null })
    const source = { namespace: 'n', dataset: 'd', field: 'a' }
    const data = { namespace: 'n', dataset: 'd', field: 'b', fieldType: '' }
    const graph = columnGraph({
      isCut: false,
      graph: [
        {
          data: { ...data, inputFields: [{ ...source, transformations: [odd('DIRECT'), odd('INDIRECT')] }] },
        },
        { data: { ...data, field: 'c', inputFields: [source] } },
      ],
    })
    const verbs = (column: string) => comesFrom(graph, columnKey({ dataset: 'dataset:n:d' as never, column }))

    expect(verbs('b').map(({ verb }) => verb)).toEqual(['derived from', 'influenced by'])
    expect(verbs('c')).toMatchObject([{ verb: 'derived from', direct: true }])
  })
})

describe('the phrases for edges of a whole dataset', () => {
  const names = Array.from({ length: 12 }, (_, n) => `c${n}`)

  test('follow those for the column, and say that every column is affected', () => {
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

  test('name a whole dataset that a column goes into', () => {
    expect(goesInto(columnGraph(wideAnswer(12)), columnKey({ dataset: FLIGHTS, column: 'c7' }))).toEqual([
      { verb: 'is copied into', direct: true, columns: [{ dataset: DELAYS, columns: ['c7'] }] },
      { verb: 'groups', direct: false, columns: [{ dataset: DELAYS, columns: 'all' }] },
    ])
  })

  test('name a whole dataset that a column comes from', () => {
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

test('a reach is grouped by dataset, and by direct and indirect', () => {
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

describe('a sentence', () => {
  const phrase = (sizes: readonly number[], ofAll?: string): Phrase => ({
    verb: 'goes into',
    direct: true,
    columns: sizes.map((size, place) => ({
      dataset: datasetId('n', `d${place}`),
      columns: Array.from({ length: size }, (_, n) => `c${n}`),
    })),
    ofAll,
  })
  const sizes = (told: Phrase) => mentioned(told).columns.map(({ columns }) => columns.length)

  test('names a few columns, and counts the rest', () => {
    const many = phrase([10, ...Array.from({ length: 902 }, () => 1)])

    expect([sizes(many), mentioned(many).left]).toEqual([[10, 1, 1], 900])
  })

  test('names some of the columns of one dataset, too', () => {
    expect([sizes(phrase([100])), mentioned(phrase([100])).left]).toEqual([[12], 88])
  })

  test('names all if they are few', () => {
    expect([sizes(phrase([3, 4])), mentioned(phrase([3, 4])).left]).toEqual([[3, 4], 0])
  })

  test('only counts columns that are connected by edges of a whole dataset, per dataset', () => {
    const told = phrase([105, 11, 2], 'as every column does')

    expect([sizes(told), mentioned(told).left]).toEqual([[105, 11, 2], 0])
  })

  test('mentions all columns of a few datasets', () => {
    const datasets = Array.from({ length: 15 }, (_, place) => datasetId('n', `d${place}`))
    const told = { ...phrase([]), columns: datasets.map((dataset) => ({ dataset, columns: 'all' as const })) }

    expect([mentioned(told).columns.length, mentioned(told).left]).toEqual([12, 3])
  })
})

describe('the words of a finding', () => {
  test.each([
    ['warehouse/raw.db/orders: wrote 3 rows', 'lake.raw.orders: wrote 3 rows'],
    ['load: the SQL text changed', 'load: the SQL text changed'],
    ['a run of load failed: no space', 'a run of load failed: no space'],
  ])('begin with the label of the dataset that they name', (words, expected) => {
    expect(relabelled(words, 'dataset:s3://lake:warehouse/raw.db/orders', 'lake.raw.orders')).toBe(expected)
  })
})
