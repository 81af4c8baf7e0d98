import type { Epoch, MachineDetail, Trouble } from '../../api/answers'
import { formatCount, formatDuration } from '../../core/format'
import { isolatedNames } from '../../core/isolated'
import { places, TROUBLE_LABELS, TROUBLE_MEANING, TROUBLE_SEVERITY } from '../../core/record'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { Panel } from '../panel/Panel'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { Issues } from './MachineTable'

const SHOWN = 50

/** The details of a machine: its troubles and its emitters. */
export function MachinePanel({ id, revision }: { id: string; revision: number }) {
  const { client } = usePage()
  const machine = useLoaded(id, revision, () => client.machine(id, SHOWN))
  return (
    <Panel
      subject={id}
      head={
        <div className="panel-heading">
          <p className="panel-kind">Node</p>
          <h2 className="panel-title" tabIndex={-1}>
            {id}
          </h2>
        </div>
      }
    >
      <Awaited of={machine} doing="Loading the record">
        {(detail) => <Record detail={detail} />}
      </Awaited>
    </Panel>
  )
}

function Record({ detail }: { detail: MachineDetail }) {
  const { nodeId, unproved, listed, listedCount, ofEpochs, epochs, heartbeatSeconds } = detail
  return (
    <>
      <Issues machine={detail} />
      <p className="muted">
        First event <Time at={detail.firstSeen} />, last event <Time at={detail.lastSeen} />, by its own
        clock.{' '}
        {heartbeatSeconds === null
          ? 'It has announced no heartbeat, so its silence cannot be detected.'
          : `Heartbeat every ${formatDuration(heartbeatSeconds * 1_000)}.`}
      </p>
      {unproved > 0 && (
        <p>
          Anybody may have signed the events without a trusted signature. If they are this node’s own, enrol
          its key: <code>headwater key token --node {nodeId}</code> where the service runs, then{' '}
          <code>headwater key enrol</code> on the node.
        </p>
      )}
      {listed.length > 0 && (
        <section>
          <h3>
            Problems <span className="muted">{formatCount(listedCount)}</span>
          </h3>
          <ul className="items">
            {listed.map((trouble) => (
              <TroubleCard key={[trouble.kind, trouble.epoch, trouble.first].join()} trouble={trouble} />
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3>
          Emitters <span className="muted">{formatCount(epochs)}</span>
        </h3>
        <p className="muted">Each start of a program is an emitter, which numbers its events from 0.</p>
        <ul className="items">
          {ofEpochs.map((epoch) => (
            <EpochCard key={epoch.epoch} epoch={epoch} />
          ))}
        </ul>
      </section>
    </>
  )
}

function TroubleCard({ trouble: { kind, epoch, words, at, first, last } }: { trouble: Trouble }) {
  const where = places(first, last)
  return (
    <li className="item">
      <p className="item-head">
        <span className="badge" data-mark={TROUBLE_SEVERITY[kind]}>
          {TROUBLE_LABELS[kind]}
        </span>
        {where !== undefined && <span>{where}</span>}
        <Time at={at} />
      </p>
      <p>{isolatedNames(words)}</p>
      <p className="muted">{TROUBLE_MEANING[kind]}</p>
      <p className="event-key">emitter {epoch}</p>
    </li>
  )
}

function EpochCard({
  epoch: { epoch, firstSeen, lastSeen, events, lastSequence, headHash, isOver },
}: {
  epoch: Epoch
}) {
  return (
    <li className="item">
      <p className="item-head">
        <Time at={firstSeen} /> – <Time at={lastSeen} />
      </p>
      <p>
        {formatCount(events)} of {counted(lastSequence + 1, 'event')} received
        {isOver ? '; it reported its end.' : '.'}
      </p>
      <p className="event-key">emitter {epoch}</p>
      <p className="event-key" title="The hash of its last event; the next event must contain it">
        head {headHash}
      </p>
    </li>
  )
}
