/** The newest runs of a job in one line. */

import type { Run } from '../api/types'
import { type DisplayState, displayState, STATE_LABELS } from './runs'

/** The states of the runs, oldest first, without those that are known only as the parent of others; `runs`: newest first. */
export function stripOf(runs: readonly Run[], now: Date): readonly DisplayState[] {
  return runs
    .map((run) => displayState(run, now))
    .filter((state) => state !== undefined)
    .reverse()
}

/** `2 failed, 8 completed`: the most recent state first. */
export function stripText(strip: readonly DisplayState[]): string {
  const counts = new Map<DisplayState, number>()
  for (const state of [...strip].reverse()) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${STATE_LABELS[state]}`).join(', ')
}
