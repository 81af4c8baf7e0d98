import { expect, test } from 'vitest'
import type { Reached } from '../../src/api/answers'
import { datasetId, jobId } from '../../src/core/ids'
import { rings } from '../../src/core/reached'

const NOTHING = { namespace: 'lake', owners: [], reason: null, breaking: null, field: null }
const job: Reached = { ...NOTHING, type: 'JOB', name: 'load', distance: 1 }
const column = (name: string, field: string, distance: number, breaking: boolean | null = null): Reached => ({
  ...NOTHING,
  type: 'DATASET_FIELD',
  name,
  field,
  distance,
  breaking,
})

test('columns stand with their dataset, places with others as far away, the nearest first', () => {
  const found = rings(
    [column('marts', 'total', 2), job, column('orders', 'price', 1), column('orders', 'tax', 1)],
    false,
  )

  expect(
    found.map(({ distance, places }) => [distance, places.map(({ node, columns }) => [node, columns])]),
  ).toEqual([
    [
      1,
      [
        [datasetId('lake', 'orders'), ['price', 'tax']],
        [jobId('lake', 'load'), []],
      ],
    ],
    [2, [[datasetId('lake', 'marts'), ['total']]]],
  ])
})

test('a place breaks where any of its columns breaks, and may break where one may', () => {
  const breaks = rings([column('a', 'x', 1, false), column('a', 'y', 1, true)], true)
  const may = rings([column('a', 'x', 1, false), column('a', 'y', 1, null)], true)

  expect([breaks, may].map((each) => each[0]?.places[0]?.breaking)).toEqual([true, null])
})

test('where no change is proposed nothing is said of breaking', () => {
  expect(rings([column('a', 'x', 1, true)], false)[0]?.places[0]?.breaking).toBeUndefined()
})
