/** For how long a job has been failing, by its newest runs. */

import type { Run } from '../api/types'

export interface Streak {
  /** Failed runs since the last that went well, or since the oldest that is told of. */
  readonly failed: number
  /** When the last run that went well ended, if it is among those told of. */
  readonly wentWell: string | undefined
}

/** `runs`: the newest first. One that is stopped or still goes on neither ends a streak nor counts. */
export function streakOf(runs: readonly Run[]): Streak {
  const good = runs.findIndex(({ state }) => state === 'COMPLETED')
  const since = good < 0 ? runs : runs.slice(0, good)
  return {
    failed: since.filter(({ state }) => state === 'FAILED').length,
    wentWell: runs[good]?.endedAt ?? runs[good]?.startedAt ?? undefined,
  }
}
