import { expect, test } from 'vitest'
import { verdicts } from '../../src/core/quality'

test('failed assertions are named with their column, passed ones counted, and others ignored', () => {
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

test.each(['warn', 'not run', 'unknown', ''])(
  'a test with the status %j counts neither as passed nor as failed',
  (status) => {
    expect(verdicts([], [{ name: 'fresh', status }])).toEqual({ passed: 0, failed: [] })
  },
)

test('tests count like assertions, by their status; skipped ones do not', () => {
  const tests = [
    { name: 'no_orphans', status: 'fail' },
    { name: 'fresh', status: 'PASS' },
    { name: 'later', status: 'skip' },
    { status: 'error' },
    { name: 'broken', status: 'runtime error' },
    { name: 'silent' },
  ]

  expect(verdicts([], tests)).toEqual({ passed: 1, failed: ['no_orphans', 'a test', 'broken'] })
})
