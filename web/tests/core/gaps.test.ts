import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { GAP_COUNTS, GAP_LABELS } from '../../src/core/gaps'

test('every documented kind of gap has a label and a count', () => {
  const questions = readFileSync(new URL('../../../docs/questions.md', import.meta.url), 'utf8')
  const section = questions.split('\n## ').find((each) => each.includes('`quarantined-name`')) ?? ''
  const kinds = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, kind]) => kind)

  expect(Object.keys(GAP_LABELS).sort()).toEqual(kinds.sort())
  expect(GAP_COUNTS.map(([kind]) => kind).sort()).toEqual(kinds)
})
