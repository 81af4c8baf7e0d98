import { expect, test } from 'vitest'
import { Unchanged } from '../../src/api/unchanged'

test('what says the same as before is the very object from before, wherever it stands', () => {
  const unchanged = new Unchanged<{ id: string; facets: object }>()
  const before = unchanged.kept([
    { id: 'a', facets: { rows: 1 } },
    { id: 'b', facets: { rows: 1 } },
  ])

  const now = unchanged.kept([
    { id: 'c', facets: {} },
    { id: 'b', facets: { rows: 2 } },
    { id: 'a', facets: { rows: 1 } },
  ])

  expect(now.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  expect(now[2]).toBe(before[0])
  expect(now[1]).toEqual({ id: 'b', facets: { rows: 2 } })
})
