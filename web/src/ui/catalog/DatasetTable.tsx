import type { Dataset } from '../../api/types'
import { formatCount } from '../../core/format'
import { datasetId } from '../../core/ids'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { PlacedLink } from '../panel/NodeLinks'
import { Tags } from '../panel/Tags'
import { ShowMore } from '../ShowMore'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { useMore } from '../useMore'
import { useThrottledRevision } from '../useThrottledRevision'
import type { Filters } from './CatalogView'

/** Datasets at first. */
const SHOWN = 50

/** Datasets, by namespace and name. */
export function DatasetTable({ namespace }: Pick<Filters, 'namespace'>) {
  const { client, revision } = usePage()
  const more = useMore(SHOWN)
  const version = useThrottledRevision(revision) + more.count // both only grow
  const found = useLoaded('datasets', version, () => client.datasets(namespace, more.count))
  return (
    <Awaited of={found} doing="Loading datasets">
      {({ items, totalCount }) =>
        totalCount === 0 ? (
          <p className="muted">No such dataset is known.</p>
        ) : (
          <section aria-label="Datasets">
            <p className="lead">{counted(totalCount, 'dataset')}, by namespace and name</p>
            <table className="catalog">
              <thead>
                <tr>
                  <th scope="col">Dataset</th>
                  <th scope="col">Columns</th>
                  <th scope="col">Tags</th>
                  <th scope="col">Last event</th>
                </tr>
              </thead>
              <tbody>
                {items.map((dataset) => (
                  <Row key={datasetId(dataset.namespace, dataset.name)} dataset={dataset} />
                ))}
              </tbody>
            </table>
            <ShowMore more={more} shown={items.length} totalCount={totalCount} />
          </section>
        )
      }
    </Awaited>
  )
}

function Row({ dataset: { namespace, name, fields, tags, updatedAt } }: { dataset: Dataset }) {
  return (
    <tr>
      <th scope="row">
        <span className="item-head">
          <PlacedLink node={datasetId(namespace, name)} named={{ namespace, name }} />
        </span>
      </th>
      <td data-label="Columns">
        {fields.length > 0 ? formatCount(fields.length) : <span className="muted">unknown</span>}
      </td>
      <td data-label="Tags">
        <Tags tags={tags ?? []} />
      </td>
      <td data-label="Last event">{updatedAt && <Time at={updatedAt} />}</td>
    </tr>
  )
}
