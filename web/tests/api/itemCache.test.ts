import { expect, test } from 'vitest'
import { ItemCache } from '../../src/api/itemCache'

test('an item with unchanged content is the same object as before, whatever its position', () => {
  const cache = new ItemCache<{ id: string; facets: object }>()
  const before = cache.reuse([
    { id: 'a', facets: { rows: 1 } },
    { id: 'b', facets: { rows: 1 } },
  ])

  const now = cache.reuse([
    { id: 'c', facets: {} },
    { id: 'b', facets: { rows: 2 } },
    { id: 'a', facets: { rows: 1 } },
  ])

  expect(now.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  expect(now[2]).toBe(before[0])
  expect(now[1]).toEqual({ id: 'b', facets: { rows: 2 } })
})
