import { Fragment } from 'react'
import type { Finding, RootCause } from '../../api/answers'
import type { NodeId } from '../../core/ids'
import { isolated, isolatedNames } from '../../core/isolated'
import { labelOf } from '../../core/nodeLabels'
import { STATE_CLAUSES } from '../../core/runs'
import { counted, relabelled } from '../../core/wording'
import { Awaited } from '../Awaited'
import { EntryLink } from '../EntryLink'
import { usePage } from '../page'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { useThrottledRevision } from '../useThrottledRevision'
import { useTicks } from '../useTicks'
import { NodeLink } from './NodeLinks'

interface RootCauseAnswerProps {
  /** A dataset or a job. */
  readonly node: NodeId
  readonly column?: string | undefined
}

/** What changed or failed in the runs upstream, the likeliest cause first. */
export function RootCauseAnswer({ node, column }: RootCauseAnswerProps) {
  const { client, lineageRevision } = usePage()
  const answer = useLoaded(
    `${node} ${column}`,
    useThrottledRevision(lineageRevision) + useTicks(),
    (signal) => client.rootCause(node, column, signal),
  )
  return (
    <Awaited of={answer} doing="Loading what changed upstream">
      {(found) => <Answer found={found} />}
    </Awaited>
  )
}

function Answer({ found: { run, findings, lookedAt, isCut } }: { found: RootCause }) {
  if (run === null) return <p className="muted">No run is known that could be examined.</p>
  return (
    <>
      <p className="muted">
        The last run of {isolated(run.job.name)} {STATE_CLAUSES[run.state]}; {counted(lookedAt.length, 'run')}{' '}
        examined
        {isCut && ', more are further upstream'}.
      </p>
      {findings.length === 0 ? (
        <p>
          Nothing changed or failed upstream, compared with earlier runs of each job and as far as events
          report.
        </p>
      ) : (
        <ol className="findings" aria-label="Findings">
          {findings.map((finding) => (
            <FindingItem key={finding.rank} finding={finding} />
          ))}
        </ol>
      )}
    </>
  )
}

function FindingItem({ finding }: { finding: Finding }) {
  const { words, nodeId, at, consequence, events, path } = finding
  const { graph } = usePage()
  const sentence = graph.nodes.has(nodeId) ? relabelled(words, nodeId, labelOf(graph, nodeId)) : words
  return (
    <li className="finding" data-consequence={consequence}>
      <p>{isolatedNames(sentence)}</p>
      <p className="item-head">
        <NodeLink node={nodeId} />
        <Time at={at} />
        {consequence && <span className="muted">a consequence of the above</span>}
      </p>
      <p className="event-key">
        {events.length > 0 && 'shown by '}
        {events.map(({ logIndex, digest }, place) => (
          <Fragment key={logIndex}>
            {place > 0 && ', '}
            <EntryLink index={logIndex} digest={digest} />
          </Fragment>
        ))}
        {path.length > 0 && ` · ${counted(path.length, 'dataset')} upstream`}
      </p>
    </li>
  )
}
