/** Runs that go on and say nothing more. */

import type { KnownGap, SilentStream } from '../api/answers'

/** Those of the silences, the newest first, that are not of streams which promised a word and are listed as such. */
export function withoutPromise(
  silences: readonly KnownGap[],
  promised: readonly Pick<SilentStream, 'run'>[],
): KnownGap[] {
  const listed = new Set(promised.map(({ run }) => `run:${run}`))
  return silences
    .filter(({ nodeId }) => nodeId === null || !listed.has(nodeId))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}
