import { usePage } from '../page'
import { useThrottledRevision } from '../useThrottledRevision'
import { useTicks } from '../useTicks'
import { Gaps } from './Gaps'
import { LogHead } from './LogHead'
import { MachinePanel } from './MachinePanel'
import { MachineTable } from './MachineTable'

/** For auditors: the log, the machines that sign events, and known gaps. */
export function RecordView({ machine }: { machine: string | undefined }) {
  const revision = useThrottledRevision(usePage().revision) + useTicks()
  return (
    <>
      <div className="sheet">
        <h2>The record</h2>
        <p className="lead">
          Nodes sign and number their events, each node in its own chain. The service stores every event as
          received, in one log. So any event that was changed, removed, moved or sent twice since shows here.
        </p>
        <LogHead revision={revision} />
        <MachineTable revision={revision} chosen={machine} />
        <Gaps revision={revision} />
      </div>
      {machine !== undefined && <MachinePanel key={machine} id={machine} revision={revision} />}
    </>
  )
}
