/** Labels for runs. */

import type { Run, RunState, Verdict } from '../api/types'

/** `STALE`: running, but silent for longer than the interval that its job announced. */
export type DisplayState = RunState | 'STALE'

export const STATE_LABELS: Readonly<Record<DisplayState, string>> = {
  NEW: 'not started',
  RUNNING: 'running',
  STALE: 'stale',
  COMPLETED: 'completed',
  FAILED: 'failed',
  ABORTED: 'stopped',
}

/** `the last run of load …` */
export const STATE_CLAUSES: Readonly<Record<RunState, string>> = {
  NEW: 'has not started',
  RUNNING: 'is running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  ABORTED: 'was stopped',
}

/** Undefined for a run that is known only as the parent of others: it has no events, so its state is unknown. */
export function displayState({ signature, state, staleAfter }: Run, now: Date): DisplayState | undefined {
  if (signature === null) return undefined
  return staleAfter && state === 'RUNNING' && Date.parse(staleAfter) < now.getTime() ? 'STALE' : state
}

export function stateLabel(run: Run, now: Date): string {
  const state = displayState(run, now)
  return state === undefined ? 'no events' : STATE_LABELS[state]
}

export const VERDICT_LABELS: Readonly<Record<Verdict, string>> = {
  ok: 'verified',
  tampered: 'tampered',
  'unknown-key': 'unknown key',
  unsigned: 'unsigned',
  malformed: 'malformed',
}

/** Explanations of the verdicts. */
export const VERDICT_MEANING: Readonly<Record<Verdict, string>> = {
  ok: 'signed by a trusted key, and unchanged since',
  tampered: 'the event was changed after it was signed',
  'unknown-key': 'signed by a key that this service does not trust',
  unsigned: 'no signature',
  malformed: 'the signature cannot be parsed',
}

/** The colour of a verdict's badge; neutral for unsigned events. */
export const VERDICT_MARKS: Readonly<Record<Verdict, 'good' | 'odd' | 'bad' | undefined>> = {
  ok: 'good',
  tampered: 'bad',
  'unknown-key': 'odd',
  unsigned: undefined,
  malformed: 'bad',
}

/** The duration of a run, so far if it is running, in milliseconds; undefined if unknown, as for a stale run. */
export function runDuration(run: Run, now: Date): number | undefined {
  const counted = run.durationMs ?? run.counters?.durationMs
  if (displayState(run, now) !== 'RUNNING') return counted ?? undefined
  const started = run.startedAt === null ? Number.NaN : Date.parse(run.startedAt)
  return Number.isNaN(started) ? undefined : Math.max(0, now.getTime() - started)
}
