import { memo, useId, useState } from 'react'
import type { Run } from '../../api/types'
import { runError } from '../../core/facets'
import { formatBytes, formatCount, formatDuration } from '../../core/format'
import type { NodeId } from '../../core/ids'
import { type DisplayState, displayState, runDuration, STATE_LABELS, stateLabel } from '../../core/runs'
import { counted } from '../../core/wording'
import { Time } from '../Time'
import { EventList } from './EventList'
import { RunErrorText } from './RunErrorText'
import { VerdictBadge } from './VerdictBadge'

interface RunCardProps {
  readonly job: NodeId
  readonly run: Run
  readonly now: Date
}

/** Rendered again only when the run changes: there may be thousands. */
export const RunCard = memo(function RunCard({ job, run, now }: RunCardProps) {
  const error = runError(run.facets)
  const duration = runDuration(run, now)
  const state = displayState(run, now)
  return (
    <li className="run" data-state={state}>
      <div className="run-head">
        <span className="state" data-state={state}>
          <span className="state-dot" data-state={state} />
          {stateLabel(run, now)}
        </span>
        <When run={run} state={state} />
        {duration !== undefined && <span className="muted">{formatDuration(duration)}</span>}
      </div>
      {state === undefined && <p className="muted">Known only as the parent of other runs.</p>}
      <CounterList run={run} />
      {error && <RunErrorText error={error} />}
      <Signature job={job} run={run} />
    </li>
  )
})

/** The start of a run, or its end if the start is unknown; for a stale run also the time of its last event. */
function When({
  run: { startedAt, endedAt, updatedAt },
  state,
}: {
  run: Run
  state: DisplayState | undefined
}) {
  return (
    <>
      {startedAt && <Time at={startedAt} />}
      {!startedAt && endedAt && (
        <span className="muted">
          ended <Time at={endedAt} />
        </span>
      )}
      {state === 'STALE' && updatedAt && (
        <span className="muted">
          last event <Time at={updatedAt} />
        </span>
      )}
    </>
  )
}

function CounterList({ run: { state, counters } }: { run: Run }) {
  const { recordsIn, recordsOut, bytesIn, bytesOut, errorCount, stopReason } = counters ?? {}
  const shown = [
    ['records in', recordsIn, formatCount],
    ['records out', recordsOut, formatCount],
    ['read', bytesIn, formatBytes],
    ['written', bytesOut, formatBytes],
    ['errors', errorCount || null, formatCount],
  ] as const
  return (
    <dl className="counters">
      {shown.map(([word, count, format]) =>
        typeof count === 'number' ? (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{format(count)}</dd>
          </div>
        ) : null,
      )}
      {stopReason && stopReason !== STATE_LABELS[state] && (
        <div>
          <dt>ended</dt>
          <dd>{stopReason}</dd>
        </div>
      )}
    </dl>
  )
}

/** The verdict on all of the run's events, with a button to list them. */
function Signature({ job, run: { id, signature } }: Pick<RunCardProps, 'job' | 'run'>) {
  const [isOpen, setIsOpen] = useState(false)
  const list = useId()
  if (!signature) return null
  const { verdict, events, verified } = signature
  return (
    <>
      <div className="run-foot">
        <VerdictBadge verdict={verdict} />
        <button
          type="button"
          className="link"
          aria-expanded={isOpen}
          aria-controls={list}
          onClick={() => setIsOpen(!isOpen)}
        >
          {formatCount(verified)} of {counted(events, 'event')} verified
        </button>
      </div>
      <div id={list}>{isOpen && <EventList job={job} run={id} />}</div>
    </>
  )
}
