import type { Machine } from '../../api/answers'
import type { Page } from '../../api/paged'
import { formatCount } from '../../core/format'
import { issuesOf } from '../../core/record'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { TableHead } from '../TableHead'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'

const SHOWN = 500

interface MachineTableProps {
  readonly revision: number
  readonly chosen: string | undefined
}

/** The machines, each with the state of its record. */
export function MachineTable({ revision, chosen }: MachineTableProps) {
  const { client } = usePage()
  const machines = useLoaded('machines', revision, () => client.machines(SHOWN))
  return (
    <section aria-labelledby="machines">
      <h3 id="machines">Nodes</h3>
      <Awaited of={machines} doing="Loading the nodes">
        {(page) => (page.items.length === 0 ? <None /> : <Table page={page} chosen={chosen} />)}
      </Awaited>
    </section>
  )
}

function None() {
  return (
    <p className="muted">
      No node has a record yet. It begins with the first signed event of a pipeline, an agent or a watcher.
    </p>
  )
}

function Table({ page: { items, totalCount }, chosen }: { page: Page<Machine>; chosen: string | undefined }) {
  return (
    <>
      <table className="machines">
        <TableHead names={['Node', 'Record', 'Events', 'Last number', 'Last seen']} />
        <tbody>
          {items.map((machine) => (
            <Row key={machine.nodeId} machine={machine} isChosen={machine.nodeId === chosen} />
          ))}
        </tbody>
      </table>
      {totalCount > items.length && (
        <p className="muted">
          {formatCount(totalCount - items.length)} more nodes are not shown: <code>headwater node list</code>
        </p>
      )}
    </>
  )
}

function Row({ machine, isChosen }: { machine: Machine; isChosen: boolean }) {
  const { moveFocus, openMachine } = usePage()
  return (
    <tr data-chosen={isChosen}>
      <th scope="row">
        <button
          type="button"
          className="link"
          aria-expanded={isChosen}
          onClick={(click) => {
            openMachine(machine.nodeId)
            moveFocus('details', click)
          }}
        >
          {machine.nodeId}
        </button>
      </th>
      <td data-label="Record">
        <Issues machine={machine} />
      </td>
      <td data-label="Events">{formatCount(machine.events)}</td>
      <td data-label="Last number">{formatCount(machine.lastSequence)}</td>
      <td data-label="Last seen">
        <Time at={machine.lastReceivedAt} />
      </td>
    </tr>
  )
}

/** The problems of a machine's record, or that it has none. */
export function Issues({ machine }: { machine: Machine }) {
  const found = issuesOf(machine)
  if (found.length === 0) {
    return (
      <span className="badge" data-mark="good">
        complete
      </span>
    )
  }
  return (
    <ul className="badges">
      {found.map(({ severity, words }) => (
        <li key={words} className="badge" data-mark={severity}>
          {words}
        </li>
      ))}
    </ul>
  )
}
