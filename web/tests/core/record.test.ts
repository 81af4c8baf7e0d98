import { expect, test } from 'vitest'
import type { Machine } from '../../src/api/answers'
import { issuesOf, places } from '../../src/core/record'
import { NODES } from '../lakehouse'

const [WHOLE] = NODES.nodes as [Machine, Machine]

test('a consistent record has no issues', () => {
  expect(issuesOf(WHOLE)).toEqual([])
})

test('issues are counted, and those that put the record in doubt come before the explicable', () => {
  const troubles = { ...WHOLE.troubles, silentEpochs: 1, missing: 1_200, dropped: 3 }

  expect(issuesOf({ ...WHOLE, troubles, unproved: 1 })).toEqual([
    { severity: 'bad', words: '1,200 events missing' },
    { severity: 'bad', words: '1 event without a trusted signature' },
    { severity: 'odd', words: '3 events dropped by the node' },
    { severity: 'odd', words: '1 emitter silent' },
  ])
})

test('places are formatted as a number or a range, or undefined', () => {
  expect([places(4, 4), places(1, 2), places(null, null)]).toEqual(['number 4', 'numbers 1 to 2', undefined])
})
