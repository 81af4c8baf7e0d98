import { expect, test } from 'vitest'
import { stripOf, stripText } from '../../src/core/runStrip'
import { run } from '../lakehouse'

const NOW = new Date('2026-01-03T00:00:00Z')

test('the newest runs are in the order of time, with their state at the moment', () => {
  const stale = run('RUNNING', { staleAfter: '2026-01-02T12:00:00Z' })
  const withoutEvents = run('NEW', { signature: null })
  const strip = stripOf([stale, run('FAILED'), withoutEvents, run('COMPLETED'), run('FAILED')], NOW)

  expect(strip).toEqual(['FAILED', 'COMPLETED', 'FAILED', 'STALE'])
  expect(stripText(strip)).toBe('1 stale, 2 failed, 1 completed')
})
