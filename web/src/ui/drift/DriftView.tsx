import type { ColumnDrift, SchemaDrift } from '../../api/answers'
import { formatCount } from '../../core/format'
import { likelyNamed } from '../../core/ids'
import { isolated } from '../../core/isolated'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { Breaking } from '../Breaking'
import { EntryLink } from '../EntryLink'
import { usePage } from '../page'
import { PlacedLink } from '../panel/NodeLinks'
import { ShowMore } from '../ShowMore'
import { TableHead } from '../TableHead'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { useMore } from '../useMore'
import { useThrottledRevision } from '../useThrottledRevision'

const SHOWN = 100
/** Columns of one schema change at first. */
const COLUMNS_SHOWN = 20

/** Schema changes, the newest first: the columns, whether the change breaks readers, and the readers. */
export function DriftView() {
  const { client, revision } = usePage()
  const drift = useLoaded('drift', useThrottledRevision(revision), () => client.drift(SHOWN))
  return (
    <div className="sheet">
      <h2>Schema changes</h2>
      <p className="lead">Changes of the columns of topics and tables, and what depends on them.</p>
      <Awaited of={drift} doing="Loading schema changes">
        {({ items, totalCount }) => (
          <>
            {items.length === 0 && <p className="muted">No schema has changed, as far as events report.</p>}
            <ol className="items">
              {items.map((change) => (
                <DriftCard key={`${change.nodeId} ${change.index}`} drift={change} />
              ))}
            </ol>
            {totalCount > items.length && (
              <p className="muted">
                {formatCount(totalCount - items.length)} earlier changes: <code>headwater drift</code>
              </p>
            )}
          </>
        )}
      </Awaited>
    </div>
  )
}

function DriftCard({ drift }: { drift: SchemaDrift }) {
  const more = useMore(COLUMNS_SHOWN)
  const shown = drift.changes.slice(0, more.count)
  return (
    <li className="item" aria-label={likelyNamed(drift.nodeId).name}>
      <p className="item-head">
        <PlacedLink node={drift.nodeId} />
        <Breaking breaking={drift.breaking} />
        <Time at={drift.at} />
      </p>
      <table className="changes">
        <TableHead names={['Column', 'Before', 'After', 'Goes into']} />
        <tbody>
          {shown.map((change) => (
            <ChangeRow key={change.column} dataset={drift.nodeId} change={change} />
          ))}
        </tbody>
      </table>
      <ShowMore more={more} shown={shown.length} totalCount={drift.changes.length} />
      <p className="muted">
        <Source drift={drift} />
      </p>
    </li>
  )
}

function ChangeRow({ dataset, change }: { dataset: SchemaDrift['nodeId']; change: ColumnDrift }) {
  const { toggleColumn } = usePage()
  const { column, before, after, reaches, jobs } = change
  return (
    <tr data-change={change.change}>
      <th scope="row">
        <button type="button" className="link column-name" onClick={() => toggleColumn({ dataset, column })}>
          {column}
        </button>
      </th>
      <td data-label="Before">
        {change.change === 'added' ? <i className="muted">none</i> : <code>{before}</code>}
      </td>
      <td data-label="After">
        {change.change === 'removed' ? <i className="muted">removed</i> : <code>{after}</code>}
      </td>
      <td data-label="Goes into">
        {reaches.columns + reaches.jobs === 0 ? (
          <span className="muted">nothing known</span>
        ) : (
          <>
            {counted(reaches.columns, 'column')} in {counted(reaches.datasets, 'dataset')}
            <ul className="links">
              {jobs.map((job) => (
                <li key={job} className="item-head">
                  <PlacedLink node={job} />
                </li>
              ))}
            </ul>
          </>
        )}
      </td>
    </tr>
  )
}

/** The reporter of a change, and its entry in the log. */
function Source({ drift: { subject, toldBy, index, digest } }: { drift: SchemaDrift }) {
  const rule = subject?.compatibility && `, under the rule ${isolated(subject.compatibility)}`
  const fits = subject?.fitsRule == null ? '' : subject.fitsRule ? ', which allows it' : ', which forbids it'
  return (
    <>
      {subject &&
        `Version ${subject.version} of ${isolated(subject.subject)}${rule ?? ''}${rule ? fits : ''}. `}
      {toldBy ? `Reported by a run of ${isolated(toldBy.name)}` : 'Reported for the dataset itself'},{' '}
      <EntryLink index={index} digest={digest} /> of the log.
    </>
  )
}
