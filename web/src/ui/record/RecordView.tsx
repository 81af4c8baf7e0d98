import { usePage } from '../page'
import { useSlowly } from '../useSlowly'
import { LogHead } from './LogHead'
import { MachinePanel } from './MachinePanel'
import { MachineTable } from './MachineTable'

const REFRESH_MS = 5_000

/** For who has to say whether the record can be relied on: the log, and each machine that signs. */
export function RecordView({ machine }: { machine: string | undefined }) {
  const revision = useSlowly(usePage().revision, REFRESH_MS)
  return (
    <>
      <div className="sheet">
        <h2>The record</h2>
        <p className="lead">
          Every event is signed by the machine that told it, numbered in that machine's chain, and kept as it
          came in one log. So an event that was changed, left out, moved or sent twice shows here.
        </p>
        <LogHead revision={revision} />
        <MachineTable revision={revision} chosen={machine} />
      </div>
      {machine !== undefined && <MachinePanel key={machine} id={machine} revision={revision} />}
    </>
  )
}
