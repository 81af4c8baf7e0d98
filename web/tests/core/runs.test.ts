import { expect, test } from 'vitest'
import { displayState, runDuration, stateLabel } from '../../src/core/runs'
import { run } from '../lakehouse'

const NOW = new Date('2026-01-02T03:04:15Z')

test('the duration of an ended run is the one that the service gives', () => {
  expect(runDuration(run('COMPLETED'), NOW)).toBe(1_500)
})

test('without that it is the one of its counters', () => {
  expect(runDuration(run('FAILED', { durationMs: null, counters: { durationMs: 7 } }), NOW)).toBe(7)
})

test('the duration of a running run is the time since its start', () => {
  expect(runDuration(run('RUNNING', { durationMs: null }), NOW)).toBe(10_000)
})

test.each([null, 'soon'])('the duration of a running run that started at %j is unknown', (startedAt) => {
  expect(runDuration(run('RUNNING', { startedAt }), NOW)).toBeUndefined()
})

test('the state of a run that is known only as a parent is unknown', () => {
  const named = run('RUNNING', { durationMs: null, signature: null })

  expect([displayState(named, NOW), runDuration(named, NOW)]).toEqual([undefined, undefined])
  expect(stateLabel(named, NOW)).toBe('no events')
  expect(stateLabel(run('RUNNING'), NOW)).toBe('running')
})

test.each([
  ['2026-01-02T03:04:14Z', 'STALE', 'stale', undefined],
  ['2026-01-02T03:04:16Z', 'RUNNING', 'running', 10_000],
  [null, 'RUNNING', 'running', 10_000],
])('a run whose next event is due by %s is %s', (staleAfter, state, words, duration) => {
  const running = run('RUNNING', { durationMs: null, staleAfter })

  expect([displayState(running, NOW), stateLabel(running, NOW), runDuration(running, NOW)]).toEqual([
    state,
    words,
    duration,
  ])
})

test('an ended run is not stale, however long ago its next event was due', () => {
  expect(displayState(run('FAILED', { staleAfter: '2026-01-02T03:04:06Z' }), NOW)).toBe('FAILED')
})
