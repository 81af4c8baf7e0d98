import { expect, test } from 'vitest'
import { RevisionCache } from '../../src/api/revisionCache'

test('an answer is kept until the graph changes', () => {
  const kept = new RevisionCache<string>()

  kept.keep('a', 1, 'old')
  expect(kept.get('a', 1)).toBe('old')
  expect(kept.get('a', 2)).toBeUndefined()
  kept.keep('b', 2, 'new')

  expect(kept.get('b', 2)).toBe('new')
  expect(kept.get('a', 2)).toBeUndefined()
})

test('an answer that comes late is given back and takes the place of nothing', () => {
  const kept = new RevisionCache<string>()
  kept.keep('a', 2, 'new')

  expect(kept.keep('a', 1, 'late')).toBe('late')
  expect(kept.get('a', 2)).toBe('new')
})
