import { Fragment } from 'react'
import { MOST_APART } from '../../core/columns'
import type { ColumnRef, NodeId } from '../../core/ids'
import { labelOf } from '../../core/labels'
import { type ColumnsOf, counted, type Phrase } from '../../core/wording'
import { usePage } from '../page'

/** "aggregated from arr_delay of lake.curated.flights"; "grouped by 105 columns of lake.raw.wide, which affect …" */
export function PhraseText({
  phrase: { verb, direct, columns, ofAll },
  end,
}: {
  phrase: Phrase
  end: string
}) {
  const { graph } = usePage()
  return (
    <>
      <span className="verb" data-kind={direct ? 'direct' : 'indirect'}>
        {verb}
      </span>{' '}
      {columns.map(({ dataset, columns: names }, index) => (
        <Fragment key={dataset}>
          {index > 0 && ', '}
          <Told dataset={dataset} columns={names} isOfAll={ofAll !== undefined} /> of{' '}
          {labelOf(graph, dataset)}
        </Fragment>
      ))}
      {ofAll && `, ${ofAll}`}
      {end}
    </>
  )
}

/** Many columns that hang together with all of a dataset are counted: the reach lists them. */
function Told({ dataset, columns, isOfAll }: ColumnsOf & { isOfAll: boolean }) {
  if (columns === 'all') return 'all columns'
  if (isOfAll && columns.length > MOST_APART) return counted(columns.length, 'column')
  return <Listed dataset={dataset} columns={columns} />
}

interface ListedProps {
  readonly dataset: NodeId
  readonly columns: readonly string[]
}

function Listed({ dataset, columns }: ListedProps) {
  return columns.map((column, index) => (
    <Fragment key={column}>
      {index > 0 && ', '}
      <ColumnButton column={{ dataset, column }} />
    </Fragment>
  ))
}

interface ColumnListProps extends ListedProps {
  readonly kind: 'direct' | 'indirect'
}

export function ColumnList({ dataset, columns, kind }: ColumnListProps) {
  if (columns.length === 0) return null
  return (
    <p className="column-list">
      <span className="verb" data-kind={kind}>
        {kind}
      </span>{' '}
      <Listed dataset={dataset} columns={columns} />
    </p>
  )
}

function ColumnButton({ column }: { column: ColumnRef }) {
  const { toggleColumn } = usePage()
  return (
    <button type="button" className="link column-name" onClick={() => toggleColumn(column)}>
      {column.column}
    </button>
  )
}
