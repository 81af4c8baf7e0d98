/** Runs in words. */

import type { Run, RunState, Verdict } from '../api/types'

/** `STALE`: it goes on as far as it told, and has been silent for longer than its job promised. */
export type ToldState = RunState | 'STALE'

export const STATE_WORDS: Readonly<Record<ToldState, string>> = {
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

/** None of a run that others only name as their parent: whether it still goes on, nobody told. */
export function toldState({ signature, state, staleAfter }: Run, now: Date): ToldState | undefined {
  if (signature === null) return undefined
  return staleAfter && state === 'RUNNING' && Date.parse(staleAfter) < now.getTime() ? 'STALE' : state
}

export function stateWords(run: Run, now: Date): string {
  const state = toldState(run, now)
  return state === undefined ? 'not heard from' : STATE_WORDS[state]
}

export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  ok: 'verified',
  tampered: 'tampered',
  'unknown-key': 'unknown key',
  unsigned: 'unsigned',
  malformed: 'malformed',
}

/** What a verdict means for the reader. */
export const VERDICT_MEANING: Readonly<Record<Verdict, string>> = {
  ok: 'signed by a trusted key, and unchanged since',
  tampered: 'the bytes are not those that were signed',
  'unknown-key': 'signed, but by a key this service does not trust',
  unsigned: 'carries no signature',
  malformed: 'carries a signature that cannot be read',
}

/** How good or bad a verdict is; of what is unsigned nobody can say. */
export const VERDICT_MARK: Readonly<Record<Verdict, 'good' | 'odd' | 'bad' | undefined>> = {
  ok: 'good',
  tampered: 'bad',
  'unknown-key': 'odd',
  unsigned: undefined,
  malformed: 'bad',
}

/** How long a run took, or for how long it is running; undefined if that cannot be told, as of one that is stale. */
export function runDuration(run: Run, now: Date): number | undefined {
  const counted = run.durationMs ?? run.counters?.durationMs
  if (toldState(run, now) !== 'RUNNING') return counted ?? undefined
  const started = run.startedAt === null ? Number.NaN : Date.parse(run.startedAt)
  return Number.isNaN(started) ? undefined : Math.max(0, now.getTime() - started)
}
