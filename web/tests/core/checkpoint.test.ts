import { expect, test } from 'vitest'
import { readCheckpoint } from '../../src/core/checkpoint'

const BODY = 'lineage.example.org\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'

test('a checkpoint has the origin and size of the log, and its signers', () => {
  const text = `${BODY}\n— lineage.example.org Az3grl\n— witness.example.com/w1 jWbPPw\n`

  expect(readCheckpoint(text)).toEqual({
    origin: 'lineage.example.org',
    size: 20_852_163,
    rootHash: 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=',
    isSigned: true,
    witnesses: ['witness.example.com/w1'],
  })
})

test('a checkpoint without the log’s own signature is not signed', () => {
  expect(readCheckpoint(`${BODY}\n— somebody else\n`)?.isSigned).toBe(false)
})

test.each(['', 'lineage.example.org\n', 'lineage.example.org\n-1\nAAAA\n', '<html>\n</html>'])(
  '%j is none',
  (text) => {
    expect(readCheckpoint(text)).toBeUndefined()
  },
)
