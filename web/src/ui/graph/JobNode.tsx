import type { NodeProps } from '@xyflow/react'
import { memo } from 'react'
import type { Run } from '../../api/types'
import { formatDuration, formatTime } from '../../core/format'
import { fullName, labelText } from '../../core/labels'
import { stateWords, toldState } from '../../core/runs'
import { JobIcon } from '../icons'
import { LabelText } from '../LabelText'
import { usePage } from '../page'
import { useNowPast } from '../useNow'
import type { CardNode } from './flow'

export const JobNode = memo(function JobNode({ data: { card, isOpen } }: NodeProps<CardNode>) {
  const { lead, openNode } = usePage()
  const { node, label, dim } = card
  const run = node.kind === 'job' ? node.job.latestRun : null
  const now = useNowPast(run?.staleAfter)
  const state = run ? toldState(run, now) : undefined
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
        aria-label={`Job ${labelText(label)} ${runWords(run, now)}`}
        aria-pressed={isOpen}
        onClick={(click) => {
          openNode(node.id)
          lead('details', click)
        }}
      >
        <JobIcon />
        <span className="card-text">
          <LabelText label={label} />{' '}
          <span className="card-state">
            <span className="state-dot" data-state={state} />
            {run ? stateWords(run, now) : 'no run known'}
          </span>
        </span>
      </button>
    </article>
  )
})

function runWords(run: Run | null, now: Date): string {
  if (!run) return 'no run known'
  const words = stateWords(run, now)
  if (toldState(run, now) === 'STALE' && run.updatedAt)
    return `${words}, last heard ${formatTime(run.updatedAt, now)}`
  return run.durationMs === null || run.state === 'RUNNING'
    ? words
    : `${words}, ${formatDuration(run.durationMs)}`
}
