import type { Dataset } from '../../api/types'
import { formatCount } from '../../core/format'
import { datasetId } from '../../core/ids'
import type { CatalogRoute } from '../../core/route'
import { usePage } from '../page'
import { Tags } from '../panel/Tags'
import { Time } from '../Time'
import { CatalogTable, NameCell } from './CatalogTable'

/** Datasets, by namespace and name. */
export function DatasetTable({ namespace }: Pick<CatalogRoute, 'namespace'>) {
  const { client } = usePage()
  return (
    <CatalogTable
      noun="dataset"
      order="by namespace and name"
      heads={['Dataset', 'Columns', 'Tags', 'Last event']}
      load={(count) => client.datasets(namespace, count)}
      row={(dataset) => <Row key={datasetId(dataset.namespace, dataset.name)} dataset={dataset} />}
    />
  )
}

function Row({ dataset }: { dataset: Dataset }) {
  const { namespace, name, fields, tags, updatedAt } = dataset
  return (
    <tr>
      <NameCell node={datasetId(namespace, name)} named={dataset} />
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
