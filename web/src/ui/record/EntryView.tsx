import type { LogEntry } from '../../api/types'
import { formatCount } from '../../core/format'
import { indented } from '../../core/indented'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { VerdictBadge } from '../panel/VerdictBadge'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { CopyButton } from './CopyButton'
import { Fact } from './Fact'

/** An entry of the log: the event as received, and the proof that the log includes it. */
export function EntryView({ index }: { index: number }) {
  const { client } = usePage()
  const entry = useLoaded(String(index), 0, () => client.entry(index))
  return (
    <div className="sheet">
      <h2>Entry {formatCount(index)} of the log</h2>
      <Awaited of={entry} doing="Loading the entry">
        {(found) => <Entry entry={found} />}
      </Awaited>
    </div>
  )
}

function Entry({
  entry: { index, eventType, eventTime, receivedAt, digest, verdict, keyId, raw },
}: {
  entry: LogEntry
}) {
  return (
    <>
      <dl className="facts">
        <Fact term="Event">
          {eventType ?? 'OTHER'}, <Time at={eventTime} />
        </Fact>
        <Fact term="Received">
          <Time at={receivedAt} />
        </Fact>
        <Fact term="Signature">
          <VerdictBadge verdict={verdict} /> {keyId && <code>{keyId}</code>}
        </Fact>
        <Fact term="SHA-256">
          <code>{digest}</code> <CopyButton what="digest" text={digest} />
        </Fact>
        <Inclusion index={index} />
      </dl>
      <section aria-labelledby="raw">
        <h3 id="raw">
          The event <CopyButton what="event" text={raw} />
        </h3>
        <p className="muted">Indented for reading; copying gives the original bytes.</p>
        <pre className="text">{indented(raw)}</pre>
      </section>
    </>
  )
}

/** The service's inclusion proof, not verified here: that takes the log's key and the hashes in the proof. */
function Inclusion({ index }: { index: number }) {
  const { client } = usePage()
  const proof = useLoaded(String(index), 0, () => client.inclusion(index))
  if (proof.state !== 'ready') return null
  const { size, leafHash, rootHash } = proof.value
  return (
    <>
      <Fact term="Leaf hash">
        <code>{leafHash}</code>
      </Fact>
      <Fact term="Root hash">
        <code>{rootHash}</code> <span className="muted">of {counted(size, 'entry', 'entries')}</span>
      </Fact>
      <Fact term="Proof">
        <a href={client.inclusionUrl(index)}>inclusion proof</a>
      </Fact>
    </>
  )
}
