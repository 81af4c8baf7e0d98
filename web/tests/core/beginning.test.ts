import { expect, test } from 'vitest'
import { beginningOf } from '../../src/core/beginning'

test('a short text is its own beginning', () => {
  expect(beginningOf('Flights,\ncleaned.')).toBe('Flights,\ncleaned.')
})

test('a long text is cut behind a word', () => {
  expect(beginningOf('word '.repeat(200))).toBe('word '.repeat(120).trimEnd())
})

test('a text of many lines is cut behind a line', () => {
  expect(beginningOf('line\n'.repeat(20))).toBe('line\n'.repeat(9).trimEnd())
})

test('a text without spaces is cut between characters, not within one', () => {
  expect(beginningOf(`x${'🚀'.repeat(400)}`)).toBe(`x${'🚀'.repeat(299)}`)
})
