import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indented } from '../../src/core/indented'

test('JSON is indented as JavaScript does', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1), (json, space) => {
      const given = JSON.stringify(JSON.parse(json), null, space)

      expect(indented(given)).toBe(JSON.stringify(JSON.parse(json), null, 2))
    }),
  )
})

test('numbers and keys are unchanged', () => {
  expect(indented('{"a":12345678901234567890,"a":1.0,"b":"{\\"x\\":[1, 2]}"}')).toBe(
    '{\n  "a": 12345678901234567890,\n  "a": 1.0,\n  "b": "{\\"x\\":[1, 2]}"\n}',
  )
})
