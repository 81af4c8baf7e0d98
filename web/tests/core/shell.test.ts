import { expect, test } from 'vitest'
import { shellWord } from '../../src/core/shell'

test.each([
  ['s3://lake/orders', 's3://lake/orders'],
  ['', "''"],
  ['two words', "'two words'"],
  ["ann's $HOME", `'ann'"'"'s $HOME'`],
  ['Größe', "'Größe'"],
])('%s as a word of a command is %s', (text, word) => {
  expect(shellWord(text)).toBe(word)
})
