import { expect, test } from 'vitest'
import { streakOf } from '../../src/core/streak'
import { run } from '../lakehouse'

const good = run('COMPLETED', { endedAt: '2026-01-01T00:00:00Z' })

test.each([
  [[], 0, undefined],
  [[run('FAILED'), run('FAILED'), good], 2, good.endedAt],
  [[run('FAILED'), run('ABORTED'), run('FAILED'), good, run('FAILED')], 2, good.endedAt],
  [[run('FAILED'), run('FAILED')], 2, undefined],
])('%# counts the failed runs since the last success', (runs, failed, lastSuccess) => {
  expect(streakOf(runs)).toEqual({ failed, lastSuccess })
})
