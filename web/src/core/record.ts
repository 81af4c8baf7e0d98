/** Describes the problems of a machine's record. */

import type { Machine, TroubleKind } from '../api/answers'
import { formatCount } from './format'

/** `bad`: events may be missing or forged; `odd`: unusual, and to be explained. */
type Severity = 'bad' | 'odd'

interface Issue {
  readonly severity: Severity
  readonly words: string
}

/** The problems of a record, the worst first. */
export function issuesOf({ troubles, unproved }: Machine): Issue[] {
  const found: readonly (readonly [number, Severity, string, string])[] = [
    [troubles.missing, 'bad', 'event missing', 'events missing'],
    [troubles.forks, 'bad', 'number signed twice', 'numbers signed twice'],
    [troubles.broken, 'bad', 'event with a wrong predecessor hash', 'events with a wrong predecessor hash'],
    [unproved, 'bad', 'event without a trusted signature', 'events without a trusted signature'],
    [troubles.dropped, 'odd', 'event dropped by the node', 'events dropped by the node'],
    [troubles.replays, 'odd', 'event replayed with other bytes', 'events replayed with other bytes'],
    [troubles.silentEpochs, 'odd', 'emitter silent', 'emitters silent'],
    [troubles.clockAhead, 'odd', 'emitter with a clock ahead', 'emitters with a clock ahead'],
  ]
  return found
    .filter(([count]) => count > 0)
    .map(([count, severity, one, many]) => ({
      severity,
      words: `${formatCount(count)} ${count === 1 ? one : many}`,
    }))
}

export const TROUBLE_SEVERITY: Readonly<Record<TroubleKind, Severity>> = {
  hole: 'bad',
  fork: 'bad',
  broken: 'bad',
  dropped: 'odd',
  replay: 'odd',
  erased: 'odd',
  silence: 'odd',
  clock: 'odd',
}

export const TROUBLE_LABELS: Readonly<Record<TroubleKind, string>> = {
  hole: 'missing',
  fork: 'fork',
  broken: 'broken link',
  dropped: 'dropped',
  replay: 'replay',
  erased: 'erased',
  silence: 'silence',
  clock: 'clock',
}

/** Explanations of the troubles, for auditors. */
export const TROUBLE_MEANING: Readonly<Record<TroubleKind, string>> = {
  hole: 'Not received: delayed, lost or withheld. The signed events before and after them have arrived.',
  fork: 'Two events were signed with the same number: the key was copied, or an event was rewritten after it was sent.',
  broken: 'The event names another predecessor than the one received: one of the two has been replaced.',
  dropped: 'The node could not store or send them, and reported that in a signed event.',
  replay: 'A signed event was sent again with other bytes. It counts once.',
  erased:
    'Several events have this number, and a facet of one was erased: whether it is a fork or a replay is unknown.',
  silence:
    'No event for twice the announced heartbeat interval: the node is off, disconnected, or its program has stopped.',
  clock: 'Its event times are not reliable; the order of its events is.',
}

/** `numbers 1 to 2` or `number 4`; nothing where it is about no place. */
export function places(first: number | null, last: number | null): string | undefined {
  if (first === null) return undefined
  if (last === null || last === first) return `number ${formatCount(first)}`
  return `numbers ${formatCount(first)} to ${formatCount(last)}`
}
