import { expect, test } from 'vitest'
import { directionOf, isolated, isolatedNames } from '../../src/core/isolated'

test('a left-to-right name is unchanged', () => {
  expect(isolated('lake.raw.flights_ä')).toBe('lake.raw.flights_ä')
})

test.each([
  ['raw\u202ecba', '\u2068raw\u202ecba\u2069'],
  ['\u202bאבג', '\u2068\u202bאבג\u2069'],
  ['אבג', '\u2068אבג\u2069'],
])('%j is isolated', (text, expected) => {
  expect(isolated(text)).toBe(expected)
})

test('a text cannot end its isolate, and isolates that it opens are closed', () => {
  expect(isolated('a\u2069\u202eb')).toBe('\u2068a\u202eb\u2069')
  expect(isolated('a\u2067b')).toBe('\u2068a\u2067b\u2069\u2069')
})

test.each([
  ['a run of load has reported no end', 'a run of load has reported no end'],
  ['a run of \u202etrela has reported no end', 'a run of \u2068\u202etrela\u2069 has reported no end'],
  ['a run of אב גד has reported no end', 'a run of \u2068אב גד\u2069 has reported no end'],
])('in %j a name turns round nothing but itself', (sentence, expected) => {
  expect(isolatedNames(sentence)).toBe(expected)
})

test.each([
  ['lake.orders', 'ltr'],
  ['42', 'ltr'],
  ['1_مبيعات.orders', 'rtl'],
  ['lake.מכירות', 'ltr'],
])('%j has the direction of its first letter: %s', (text, direction) => {
  expect(directionOf(text)).toBe(direction)
})
