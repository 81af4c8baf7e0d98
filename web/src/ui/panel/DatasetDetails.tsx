import type { Dataset } from '../../api/types'
import type { ColumnGraph } from '../../core/columns'
import type { Named, NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import type { Loadable } from '../../core/loadable'
import { withMembers } from '../../core/members'
import { LongText } from '../LongText'
import { usePage } from '../page'
import { useLoaded } from '../useLoaded'
import { About } from './About'
import { ColumnStory } from './ColumnStory'
import { Fault } from './Faults'
import { Neighbours } from './Neighbours'
import { Quality } from './Quality'
import { Questions } from './Questions'
import { Schema } from './Schema'

interface DatasetDetailsProps {
  readonly id: NodeId
  /** The dataset as in the graph, shown until all of it is loaded. */
  readonly summary: Dataset
  readonly column: string | undefined
  readonly columns: Loadable<ColumnGraph>
}

export function DatasetDetails({ id, summary, column, columns }: DatasetDetailsProps) {
  const { client, nodeRevision } = usePage()
  const loaded = useLoaded(id, nodeRevision(id), () => client.dataset(summary))
  const dataset = loaded.state === 'ready' ? loaded.value : summary
  const fields = withMembers(dataset.fields)
  return (
    <>
      {column !== undefined && (
        <ColumnStory
          start={{ dataset: id, column }}
          columns={columns}
          isInSchema={fields.some(({ name }) => name === column)}
        />
      )}
      {dataset.description && <LongText text={dataset.description} />}
      <About facets={dataset.facets ?? {}} tags={dataset.tags ?? []} />
      <Quality of={id} />
      <Aliases names={dataset.symlinks} />
      <Neighbours of={id} direction="upstream" type="DATASET" title="Derived from" />
      <Neighbours
        of={id}
        direction="upstream"
        type="JOB"
        title="Written by"
        none="No job is known to write it."
      />
      <Neighbours
        of={id}
        direction="downstream"
        type="JOB"
        title="Read by"
        none="No job is known to read it."
      />
      <Neighbours of={id} direction="downstream" type="DATASET" title="Goes into" />
      <Questions key={column ?? ''} dataset={id} named={summary} column={column} />
      {loaded.state === 'failed' && <Fault message={loaded.message} />}
      <Schema dataset={id} fields={fields} count={dataset.fields.length} chosen={column} />
    </>
  )
}

function Aliases({ names }: { names: readonly Named[] }) {
  if (names.length === 0) return null
  return (
    <section>
      <h3>Also known as</h3>
      <ul className="plain">
        {names.map(({ namespace, name }) => (
          <li key={JSON.stringify([namespace, name])} className="full-name">
            <span className="muted">{isolated(namespace)}</span> {isolated(name)}
          </li>
        ))}
      </ul>
    </section>
  )
}
