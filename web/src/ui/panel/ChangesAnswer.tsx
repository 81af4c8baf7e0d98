import { useState } from 'react'
import type { Change } from '../../api/answers'
import { localTime, ofLocalTime } from '../../core/asOf'
import { CHANGE_LABELS, changeText } from '../../core/changes'
import { formatCount } from '../../core/format'
import { jobId, type NodeId } from '../../core/ids'
import { Awaited } from '../Awaited'
import { EntryLink } from '../EntryLink'
import { usePage } from '../page'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { useThrottledRevision } from '../useThrottledRevision'
import { NodeLink } from './NodeLinks'

const SHOWN = 200
const DAY_MS = 86_400_000

/** What was added to, removed from or changed in a job or dataset since a chosen time, each with its event. */
export function ChangesAnswer({ node }: { node: NodeId }) {
  const page = usePage()
  const { asOf, client, lineageRevision } = page
  const [yesterday] = useState(() => dayBefore(asOf))
  const since = page.since ?? yesterday
  const answer = useLoaded(`${node} ${since}`, useThrottledRevision(lineageRevision), (signal) =>
    client.changes(node, since, SHOWN, signal),
  )
  return (
    <>
      <label className="choice">
        since
        <input
          type="datetime-local"
          step="1"
          defaultValue={localTime(since)}
          onChange={(event) => page.setSince(ofLocalTime(event.currentTarget.value) ?? since)}
        />
      </label>
      <Awaited of={answer} doing="Comparing">
        {({ items, totalCount }) => <Answer changes={items} totalCount={totalCount} />}
      </Awaited>
    </>
  )
}

function Answer({ changes, totalCount }: { changes: readonly Change[]; totalCount: number }) {
  if (changes.length === 0) return <p>Nothing, as far as events report.</p>
  return (
    <>
      <ul className="places" aria-label="Changes">
        {changes.map((change) => (
          <ChangeItem
            key={[change.kind, change.nodeId, change.origin, change.destination, change.facet].join(' ')}
            change={change}
          />
        ))}
      </ul>
      {totalCount > changes.length && (
        <p className="muted">
          {formatCount(totalCount - changes.length)} more: <code>headwater diff</code>
        </p>
      )}
    </>
  )
}

function ChangeItem({ change }: { change: Change }) {
  const { graph } = usePage()
  const { event } = change
  return (
    <li>
      <p>
        <span className="badge">{CHANGE_LABELS[change.change]}</span> {changeText(graph, change)}
      </p>
      {event && (
        <p className="item-head event-key">
          {event.job && <NodeLink node={jobId(event.job.namespace, event.job.name)} />}
          <Time at={event.eventTime} />
          <EntryLink index={event.index} digest={event.digest} />
        </p>
      )}
    </li>
  )
}

function dayBefore(asOf: string | undefined): string {
  const at = new Date(asOf ?? Date.now()).getTime()
  return new Date((Number.isNaN(at) ? Date.now() : at) - DAY_MS).toISOString()
}
