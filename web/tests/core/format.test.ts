import { expect, test, vi } from 'vitest'
import { formatBytes, formatCount, formatDuration, formatTime } from '../../src/core/format'

test.each([
  [0, '0 ms'],
  [840.4, '840 ms'],
  [12_400, '12.4 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 0 s'],
  [200_000, '3 min 20 s'],
  [3_599_600, '1 h 0 min'],
  [7_500_000, '2 h 5 min'],
  [172_770_000, '2 d 0 h'],
  [792_000_000, '9 d 4 h'],
])('%d ms reads %j', (milliseconds, expected) => {
  expect(formatDuration(milliseconds)).toBe(expected)
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [33_500_000, '34 MB'],
])('%d bytes read %j', (bytes, expected) => {
  expect(formatBytes(bytes)).toBe(expected)
})

test('thousands are separated', () => {
  expect(formatCount(336_776)).toBe('336,776')
})

test('a time of today is formatted with its zone, another with its date, too; an invalid time is unchanged', () => {
  vi.stubEnv('TZ', 'Europe/Paris')
  const now = new Date('2026-01-02T18:00:00Z')

  expect(formatTime('2026-01-02T03:04:05Z', now)).toBe('04:04:05 CET')
  expect(formatTime('2025-07-31T22:04:05Z', now)).toBe('1 Aug 2025 00:04:05 CEST')
  expect(formatTime('soon', now)).toBe('soon')
  vi.unstubAllEnvs()
})
