/** The head of the log, as its text says. Whether its signatures are good is not for a page to say: `headwater audit`. */

export interface Checkpoint {
  /** The log's name. */
  readonly origin: string
  /** How many entries the log has. */
  readonly size: number
  /** Base64 of the root of its tree. */
  readonly rootHash: string
  readonly isSigned: boolean
  /** Who else signed it: witnesses. */
  readonly witnesses: readonly string[]
}

/**
 * Source: https://c2sp.org/tlog-checkpoint, https://c2sp.org/signed-note. Undefined for a text that is none.
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
