/** Says in words whether a machine's record is whole. */

import type { Machine, TroubleKind } from '../api/answers'
import { formatCount } from './format'

/** `bad`: the record does not prove what it should; `odd`: there is an explanation, and somebody should know it. */
export type Weight = 'bad' | 'odd'

export interface Remark {
  readonly weight: Weight
  readonly words: string
}

/** What does not fit, the worst first; nothing for a record that is whole. */
export function remarks({ troubles, unproved }: Machine): Remark[] {
  const found: readonly (readonly [number, Weight, string, string])[] = [
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
    .map(([count, weight, one, many]) => ({
      weight,
      words: `${formatCount(count)} ${count === 1 ? one : many}`,
    }))
}

export const TROUBLE_WEIGHT: Readonly<Record<TroubleKind, Weight>> = {
  hole: 'bad',
  fork: 'bad',
  broken: 'bad',
  dropped: 'odd',
  replay: 'odd',
  silence: 'odd',
  clock: 'odd',
}

export const TROUBLE_WORDS: Readonly<Record<TroubleKind, string>> = {
  hole: 'missing',
  fork: 'fork',
  broken: 'broken link',
  dropped: 'dropped',
  replay: 'replay',
  silence: 'silence',
  clock: 'clock',
}

/** What each may mean, for who has to judge it. */
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
