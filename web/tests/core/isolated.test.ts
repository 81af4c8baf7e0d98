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
  ['a run of load told no end', 'a run of load told no end'],
  ['a run of \u202etrela told no end', 'a run of \u2068\u202etrela\u2069 told no end'],
  ['a run of אב גד told no end', 'a run of \u2068אב גד\u2069 told no end'],
])('in %j only the right-to-left name is isolated', (sentence, expected) => {
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
