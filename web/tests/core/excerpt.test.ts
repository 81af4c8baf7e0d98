import { expect, test } from 'vitest'
import { excerptOf } from '../../src/core/excerpt'

test('a short text is its own excerpt', () => {
  expect(excerptOf('Flights,\ncleaned.')).toBe('Flights,\ncleaned.')
})

test('a long text is cut after a word', () => {
  expect(excerptOf('word '.repeat(200))).toBe('word '.repeat(120).trimEnd())
})

test('a text of many lines is cut after a line', () => {
  expect(excerptOf('line\n'.repeat(20))).toBe('line\n'.repeat(9).trimEnd())
})

test('a text without spaces is cut between characters, not within one', () => {
  expect(excerptOf(`x${'🚀'.repeat(400)}`)).toBe(`x${'🚀'.repeat(299)}`)
})
