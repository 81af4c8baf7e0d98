/** A checkpoint of the log. Its signatures are not verified here: `headwater audit` does that. */

export interface Checkpoint {
  /** The log's name. */
  readonly origin: string
  /** The log's size in entries. */
  readonly size: number
  /** Base64, the root hash of the Merkle tree. */
  readonly rootHash: string
  /** Whether the log itself signed it. */
  readonly isSigned: boolean
  /** The other signers' names. */
  readonly witnesses: readonly string[]
}

/**
 * Parses a checkpoint; undefined if the text is not one.
 *
 * Source: https://c2sp.org/tlog-checkpoint, https://c2sp.org/signed-note
 */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const [body = '', signatures = ''] = text.split('\n\n')
  const [origin, size, rootHash] = body.split('\n')
  if (!origin || !rootHash || !/^(0|[1-9]\d*)$/.test(size ?? '')) return undefined
  const signers = [...signatures.matchAll(/^— (\S+) \S+$/gm)].flatMap(([, name]) => name ?? [])
  return {
    origin,
    size: Number(size),
    rootHash,
    isSigned: signers.includes(origin),
    witnesses: [...new Set(signers)].filter((name) => name !== origin),
  }
}
