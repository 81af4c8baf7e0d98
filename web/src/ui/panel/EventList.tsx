import type { RunEvent } from '../../api/types'
import type { NodeId, RunId } from '../../core/ids'
import { EntryLink } from '../EntryLink'
import { usePage } from '../page'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { VerdictBadge } from './VerdictBadge'

/** The events of one run as they were received, each with its verdict. */
export function EventList({ job, run }: { job: NodeId; run: RunId }) {
  const { client, nodeRevision } = usePage()
  const events = useLoaded(run, nodeRevision(job), () => client.runEvents(run))
  switch (events.state) {
    case 'loading':
      return <p role="status">Loading events…</p>
    case 'failed':
      return <p role="alert">{events.message}</p>
    case 'ready':
      return (
        <ol className="events" aria-label="Events">
          {events.value.map((event) => (
            <EventItem key={event.index} event={event} />
          ))}
        </ol>
      )
  }
}

function EventItem({ event: { index, eventType, eventTime, digest, verdict, keyId } }: { event: RunEvent }) {
  return (
    <li className="event">
      <div className="event-head">
        <span className="event-type">{eventType ?? 'OTHER'}</span>
        <Time at={eventTime} />
        <VerdictBadge verdict={verdict} />
      </div>
      <p className="event-key">{keyId ?? 'no key'}</p>
      <p className="event-key">
        <EntryLink index={index} digest={digest} /> · {digest.slice(0, 23)}
      </p>
    </li>
  )
}
