import { expect, test } from 'vitest'
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

test('thousands are set apart', () => {
  expect(formatCount(336_776)).toBe('336,776')
})

test('a time of today is a clock time, another has its day, and no time stays as it is', () => {
  const now = new Date(2026, 0, 2, 18, 0, 0)

  expect(formatTime(new Date(2026, 0, 2, 3, 4, 5).toISOString(), now)).toBe('03:04:05')
  expect(formatTime(new Date(2025, 11, 31, 3, 4, 5).toISOString(), now)).toBe('31 Dec 2025 03:04:05')
  expect(formatTime('soon', now)).toBe('soon')
})
