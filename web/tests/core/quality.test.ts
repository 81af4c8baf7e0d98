import { expect, test } from 'vitest'
import { verdicts } from '../../src/core/quality'

test('what failed is named with its column, what passed is counted, and what is neither does not count', () => {
  const assertions = [
    { assertion: 'not_null', column: 'price', success: false },
    { assertion: 'row_count', success: false },
    { assertion: 'unique', column: 'id', success: true },
    { assertion: 'odd', success: 'yes' },
    { success: false },
    null,
    7,
  ]

  expect(verdicts(assertions, [])).toEqual({
    passed: 1,
    failed: ['not_null of price', 'row_count', 'an assertion'],
  })
})

test('tests count beside assertions, by their status; a test that was skipped does not', () => {
  const tests = [
    { name: 'no_orphans', status: 'fail' },
    { name: 'fresh', status: 'PASS' },
    { name: 'later', status: 'skip' },
    { status: 'error' },
    { name: 'silent' },
  ]

  expect(verdicts([], tests)).toEqual({ passed: 1, failed: ['no_orphans', 'a test'] })
})
