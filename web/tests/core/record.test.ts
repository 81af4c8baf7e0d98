import { expect, test } from 'vitest'
import type { Machine } from '../../src/api/answers'
import { places, remarks } from '../../src/core/record'
import { NODES } from '../lakehouse'

const [WHOLE] = NODES.nodes as [Machine, Machine]

test('a record in which everything fits has no remarks', () => {
  expect(remarks(WHOLE)).toEqual([])
})

test('what puts the record in doubt comes before what is only odd, each counted', () => {
  const troubles = { ...WHOLE.troubles, silentEpochs: 1, missing: 1_200, dropped: 3 }

  expect(remarks({ ...WHOLE, troubles, unproved: 1 })).toEqual([
    { weight: 'bad', words: '1,200 events missing' },
    { weight: 'bad', words: '1 event without a trusted signature' },
    { weight: 'odd', words: '3 events dropped, as it says itself' },
    { weight: 'odd', words: '1 emitter silent' },
  ])
})

test('places are told as a number, as a range, or not at all', () => {
  expect([places(4, 4), places(1, 2), places(null, null)]).toEqual(['number 4', 'numbers 1 to 2', undefined])
})
