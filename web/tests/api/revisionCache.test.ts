import { expect, test } from 'vitest'
import { RevisionCache } from '../../src/api/revisionCache'

test('an answer is cached until the graph changes', () => {
  const cache = new RevisionCache<string>()

  cache.put('a', 1, 'old')
  expect(cache.get('a', 1)).toBe('old')
  expect(cache.get('a', 2)).toBeUndefined()
  cache.put('b', 2, 'new')

  expect(cache.get('b', 2)).toBe('new')
  expect(cache.get('a', 2)).toBeUndefined()
})

test('an outdated answer is returned and replaces nothing', () => {
  const cache = new RevisionCache<string>()
  cache.put('a', 2, 'new')

  expect(cache.put('a', 1, 'late')).toBe('late')
  expect(cache.get('a', 2)).toBe('new')
})
