import type { NodeProps } from '@xyflow/react'
import { memo } from 'react'
import type { Run } from '../../api/types'
import { formatDuration, formatTime } from '../../core/format'
import { labelText } from '../../core/labels'
import { fullName } from '../../core/nodeLabels'
import { displayState, stateLabel } from '../../core/runs'
import { JobIcon } from '../icons'
import { LabelText } from '../LabelText'
import { usePage } from '../page'
import { useNowUpdatedAt } from '../useNow'
import type { CardNode } from './flow'

export const JobNode = memo(function JobNode({ data: { card, isOpen } }: NodeProps<CardNode>) {
  const { moveFocus, openNode } = usePage()
  const { node, label, dim } = card
  const run = node.kind === 'job' ? node.job.latestRun : null
  const now = useNowUpdatedAt(run?.staleAfter)
  const state = run ? displayState(run, now) : undefined
  return (
    <article
      className="card job"
      data-testid="node"
      data-node-id={node.id}
      data-dim={dim}
      data-open={isOpen}
      data-state={state}
    >
      <button
        type="button"
        className="card-title"
        title={fullName(node)}
        aria-label={`Job ${labelText(label)} ${runText(run, now)}`}
        aria-pressed={isOpen}
        onClick={(click) => {
          openNode(node.id)
          moveFocus('details', click)
        }}
      >
        <JobIcon />
        <span className="card-text">
          <LabelText label={label} />{' '}
          <span className="card-state">
            <span className="state-dot" data-state={state} />
            {run ? stateLabel(run, now) : 'no run known'}
          </span>
        </span>
      </button>
    </article>
  )
})

function runText(run: Run | null, now: Date): string {
  if (!run) return 'no run known'
  const words = stateLabel(run, now)
  if (displayState(run, now) === 'STALE' && run.updatedAt)
    return `${words}, last event ${formatTime(run.updatedAt, now)}`
  return run.durationMs === null || run.state === 'RUNNING'
    ? words
    : `${words}, ${formatDuration(run.durationMs)}`
}
