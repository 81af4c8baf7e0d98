/** Describes the problems of a machine's record. */

import type { Machine, TroubleKind } from '../api/answers'
import { formatCount } from './format'

/** `bad`: events may be missing or forged; `odd`: unusual, and to be explained. */
export type Severity = 'bad' | 'odd'

export interface Issue {
  readonly severity: Severity
  readonly words: string
}

/** The problems of a record, the worst first. */
export function issuesOf({ troubles, unproved }: Machine): Issue[] {
  const found: readonly (readonly [number, Severity, string, string])[] = [
    [troubles.missing, 'bad', 'event missing', 'events missing'],
    [troubles.forks, 'bad', 'place signed twice', 'places signed twice'],
    [
      troubles.broken,
      'bad',
      'event that does not follow the one before',
      'events that do not follow the one before',
    ],
    [unproved, 'bad', 'event without a trusted signature', 'events without a trusted signature'],
    [troubles.dropped, 'odd', 'event dropped, as it says itself', 'events dropped, as it says itself'],
    [troubles.replays, 'odd', 'event sent again in other bytes', 'events sent again in other bytes'],
    [troubles.silentEpochs, 'odd', 'emitter silent', 'emitters silent'],
    [troubles.clockAhead, 'odd', 'emitter with a clock ahead of ours', 'emitters with a clock ahead of ours'],
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
  silence: 'odd',
  clock: 'odd',
}

export const TROUBLE_LABELS: Readonly<Record<TroubleKind, string>> = {
  hole: 'missing',
  fork: 'fork',
  broken: 'broken link',
  dropped: 'dropped',
  replay: 'replay',
  silence: 'silence',
  clock: 'clock',
}

/** Explanations of the troubles, for auditors. */
export const TROUBLE_MEANING: Readonly<Record<TroubleKind, string>> = {
  hole: 'Still on their way, lost, or held back by somebody: the numbers on both sides are signed, these never came.',
  fork: 'Two events were signed for one number: the key was copied, or an event was written anew after it was sent.',
  broken:
    'An event names another one before it than the one that is here: one of the two was put in place of another.',
  dropped: 'The machine could not keep them, and said so under its signature.',
  replay: 'Somebody sent a signed event once more, written otherwise. It counts once.',
  silence:
    'It promised a word at fixed times and has been silent for twice as long: off, cut off, or stopped.',
  clock: 'Its times are not to be relied on; the order of its events is.',
}

/** `numbers 1 to 2` or `number 4`; nothing where it is about no place. */
export function places(first: number | null, last: number | null): string | undefined {
  if (first === null) return undefined
  if (last === null || last === first) return `number ${formatCount(first)}`
  return `numbers ${formatCount(first)} to ${formatCount(last)}`
}
