import { expect, test } from 'vitest'
import { displayState, runDuration, stateLabel } from '../../src/core/runs'
import { run } from '../lakehouse'

const NOW = new Date('2026-01-02T03:04:15Z')

test('a run that ended lasted as long as it says', () => {
  expect(runDuration(run('COMPLETED'), NOW)).toBe(1_500)
})

test('without a word of its own it lasted as long as it counted', () => {
  expect(runDuration(run('FAILED', { durationMs: null, counters: { durationMs: 7 } }), NOW)).toBe(7)
})

test('a running run lasts until now', () => {
  expect(runDuration(run('RUNNING', { durationMs: null }), NOW)).toBe(10_000)
})

test.each([null, 'soon'])('a running run that started at %j lasts nobody knows how long', (startedAt) => {
  expect(runDuration(run('RUNNING', { startedAt }), NOW)).toBeUndefined()
})

test('of a run that is only named as a parent nobody knows whether it goes on', () => {
  const named = run('RUNNING', { durationMs: null, signature: null })

  expect([displayState(named, NOW), runDuration(named, NOW)]).toEqual([undefined, undefined])
  expect(stateLabel(named, NOW)).toBe('not heard from')
  expect(stateLabel(run('RUNNING'), NOW)).toBe('running')
})

test.each([
  ['2026-01-02T03:04:14Z', 'STALE', 'stale', undefined],
  ['2026-01-02T03:04:16Z', 'RUNNING', 'running', 10_000],
  [null, 'RUNNING', 'running', 10_000],
])('a run that promised a word by %s is %s', (staleAfter, state, words, duration) => {
  const told = run('RUNNING', { durationMs: null, staleAfter })

  expect([displayState(told, NOW), stateLabel(told, NOW), runDuration(told, NOW)]).toEqual([
    state,
    words,
    duration,
  ])
})

test('a run that ended is not stale, however long ago it promised a word', () => {
  expect(displayState(run('FAILED', { staleAfter: '2026-01-02T03:04:06Z' }), NOW)).toBe('FAILED')
})
