import { expect, test } from 'vitest'
import type { Reached } from '../../src/api/answers'
import { datasetId, jobId } from '../../src/core/ids'
import { byDistance } from '../../src/core/reached'

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

test('columns are grouped by dataset, datasets and jobs by distance, the nearest first', () => {
  const found = byDistance(
    [column('marts', 'total', 2), job, column('orders', 'price', 1), column('orders', 'tax', 1)],
    false,
  )

  expect(
    found.map(({ distance, nodes }) => [distance, nodes.map(({ node, columns }) => [node, columns])]),
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

test('a dataset breaks if any of its columns breaks, and may break if one may', () => {
  const breaks = byDistance([column('a', 'x', 1, false), column('a', 'y', 1, true)], true)
  const may = byDistance([column('a', 'x', 1, false), column('a', 'y', 1, null)], true)

  expect([breaks, may].map((each) => each[0]?.nodes[0]?.breaking)).toEqual([true, null])
})

test('without a proposed change it is undefined whether anything breaks', () => {
  expect(byDistance([column('a', 'x', 1, true)], false)[0]?.nodes[0]?.breaking).toBeUndefined()
})
