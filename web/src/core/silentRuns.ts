/** Runs without an end that have gone silent. */

import type { KnownGap, SilentStream } from '../api/answers'

/** The gaps of silent runs, newest first, without runs that are listed as silent streams. */
export function withoutListed(
  silences: readonly KnownGap[],
  streams: readonly Pick<SilentStream, 'run'>[],
): KnownGap[] {
  const listed = new Set(streams.map(({ run }) => `run:${run}`))
  return silences
    .filter(({ nodeId }) => nodeId === null || !listed.has(nodeId))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}
