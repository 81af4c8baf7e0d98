import { expect, test } from 'vitest'
import { Recognised } from '../../src/api/recognised'

test('what says the same as before is the very object from before, wherever it stands', () => {
  const recognised = new Recognised<{ id: string; facets: object }>()
  const before = recognised.all([
    { id: 'a', facets: { rows: 1 } },
    { id: 'b', facets: { rows: 1 } },
  ])

  const now = recognised.all([
    { id: 'c', facets: {} },
    { id: 'b', facets: { rows: 2 } },
    { id: 'a', facets: { rows: 1 } },
  ])

  expect(now.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  expect(now[2]).toBe(before[0])
  expect(now[1]).toEqual({ id: 'b', facets: { rows: 2 } })
})
