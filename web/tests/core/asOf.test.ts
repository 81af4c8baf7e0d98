import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { formatAsOf, localTime, ofLocalTime, parseAsOf } from '../../src/core/asOf'

beforeEach(() => {
  vi.stubEnv('TZ', 'Europe/Paris')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

test.each([undefined, '2026-05-22T12:00:00.000Z', '2026-05-22T14:00:00+02:00', 'last Tuesday'])(
  'the time %s is the same after formatting and parsing',
  (asOf) => {
    expect(parseAsOf(formatAsOf(asOf))).toBe(asOf)
  },
)

test('milliseconds in the address are a time, as for the service', () => {
  expect(parseAsOf('?asOf=1779451200000')).toBe('2026-05-22T12:00:00.000Z')
  expect(parseAsOf('?asOf=999999999999999')).toBe('999999999999999')
})

test('an address without a time shows now', () => {
  expect(['', '?', '?asOf='].map(parseAsOf)).toEqual([undefined, undefined, undefined])
})

test.each([
  ['2026-05-22T12:00:00.000Z', '2026-05-22T14:00:00'],
  ['2026-01-02T23:30:01.000Z', '2026-01-03T00:30:01'],
])('%s is %s in Paris, and back', (time, local) => {
  expect(localTime(time)).toBe(local)
  expect(ofLocalTime(local)).toBe(time)
})

test('an invalid time gives none', () => {
  expect(localTime('last Tuesday')).toBe('')
  expect(ofLocalTime('')).toBeUndefined()
})
