/** A job's streak of failed runs. */

import type { Run } from '../api/types'

interface Streak {
  /** Failed runs since the last success, or all if there is none among the runs. */
  readonly failed: number
  /** The end of the last successful run, if there is one among the runs. */
  readonly lastSuccess: string | undefined
}

/** `runs`: the newest first. Stopped and running ones neither count nor end the streak. */
export function streakOf(runs: readonly Run[]): Streak {
  const good = runs.findIndex(({ state }) => state === 'COMPLETED')
  const since = good < 0 ? runs : runs.slice(0, good)
  return {
    failed: since.filter(({ state }) => state === 'FAILED').length,
    lastSuccess: runs[good]?.endedAt ?? runs[good]?.startedAt ?? undefined,
  }
}
