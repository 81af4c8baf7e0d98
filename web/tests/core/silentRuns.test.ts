import { expect, test } from 'vitest'
import type { RunId } from '../../src/core/ids'
import { withoutListed } from '../../src/core/silentRuns'

const silence = (run: string, at: string) => ({
  nodeId: `run:${run}`,
  namespace: 'demo',
  words: 'silent',
  at,
  related: [],
})

test('runs of silent streams are not listed twice; of the others the last to fall silent is first', () => {
  const late = silence('late', '2026-01-02T03:04:05.5Z')
  const early = silence('early', '2026-01-02T03:04:05Z')
  const listed = silence('listed', '2026-01-01T00:00:00Z')

  expect(withoutListed([early, listed, late], [{ run: 'listed' as RunId }])).toEqual([late, early])
})
