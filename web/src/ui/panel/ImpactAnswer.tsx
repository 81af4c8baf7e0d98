import type { Impact } from '../../api/answers'
import { formatCount } from '../../core/format'
import type { NodeId } from '../../core/ids'
import { isolated, isolatedNames } from '../../core/isolated'
import { byDistance, type ReachedNode } from '../../core/reached'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { Breaking } from '../Breaking'
import { usePage } from '../page'
import { useLoaded } from '../useLoaded'
import { useThrottledRevision } from '../useThrottledRevision'
import { NodeLink } from './NodeLinks'

const SHOWN = 500

interface ImpactAnswerProps {
  readonly dataset: NodeId
  readonly column: string | undefined
}

/** The impact of a change by distance; optionally also what breaks if the dataset or column is dropped. */
export function ImpactAnswer({ dataset, column }: ImpactAnswerProps) {
  const { client, lineageRevision, isDrop, setIsDrop } = usePage()
  const subject = [dataset, column, isDrop].join(' ')
  const answer = useLoaded(subject, useThrottledRevision(lineageRevision), (signal) =>
    client.impact(dataset, column, isDrop, SHOWN, signal),
  )
  return (
    <>
      <label className="choice">
        <input type="checkbox" checked={isDrop} onChange={() => setIsDrop(!isDrop)} />
        show what breaks if {column === undefined ? 'it' : isolated(column)} is dropped
      </label>
      <Awaited of={answer} doing="Loading what depends on it">
        {(impact) => <Answer impact={impact} isDrop={isDrop} />}
      </Awaited>
    </>
  )
}

function Answer({ impact, isDrop }: { impact: Impact; isDrop: boolean }) {
  const { summary, reached, totalCount } = impact
  if (reached.length === 0) return <p>Nothing, as far as events report.</p>
  return (
    <>
      <p className="muted">{isolatedNames(summary)}</p>
      {byDistance(reached, isDrop).map(({ distance, nodes }) => (
        <section key={distance}>
          <h4>{counted(distance, 'step')} away</h4>
          <ul className="places">
            {nodes.map((each) => (
              <ReachedItem key={each.node} reached={each} />
            ))}
          </ul>
        </section>
      ))}
      {totalCount > reached.length && (
        <p className="muted">
          {formatCount(totalCount - reached.length)} more: <code>headwater impact</code>
        </p>
      )}
    </>
  )
}

function ReachedItem({ reached: { node, columns, owners, breaking, reason } }: { reached: ReachedNode }) {
  const { graph } = usePage()
  const known = graph.nodes.get(node)
  return (
    <li>
      <p className="item-head">
        <NodeLink node={node} />
        {known?.kind === 'dataset' && known.dataset.datasetType === 'DASHBOARD' && (
          <span className="badge">dashboard</span>
        )}
        {breaking !== undefined && <Breaking breaking={breaking} />}
      </p>
      {columns.length > 0 && <p className="column-list column-name">{columns.map(isolated).join(', ')}</p>}
      {owners.length > 0 && (
        <p className="column-list">owned by {owners.map(({ name }) => isolated(name)).join(', ')}</p>
      )}
      {breaking && reason && <p className="column-list muted">{isolatedNames(reason)}</p>}
    </li>
  )
}
