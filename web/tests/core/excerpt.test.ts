import { expect, test } from 'vitest'
import { excerptOf } from '../../src/core/excerpt'

test('a short text is its own beginning', () => {
  expect(excerptOf('Flights,\ncleaned.')).toBe('Flights,\ncleaned.')
})

test('a long text is cut behind a word', () => {
  expect(excerptOf('word '.repeat(200))).toBe('word '.repeat(120).trimEnd())
})

test('a text of many lines is cut behind a line', () => {
  expect(excerptOf('line\n'.repeat(20))).toBe('line\n'.repeat(9).trimEnd())
})

test('a text without spaces is cut between characters, not within one', () => {
  expect(excerptOf(`x${'🚀'.repeat(400)}`)).toBe(`x${'🚀'.repeat(299)}`)
})
