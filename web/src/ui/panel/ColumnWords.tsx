import { Fragment } from 'react'
import type { ColumnRef } from '../../core/ids'
import { labelOf } from '../../core/labels'
import type { ColumnsOf, Phrase } from '../../core/wording'
import { usePage } from '../page'

/** "aggregated from arr_delay of lake.curated.flights" */
export function PhraseText({ phrase: { verb, direct, columns }, end }: { phrase: Phrase; end: string }) {
  const { graph } = usePage()
  return (
    <>
      <span className="verb" data-kind={direct ? 'direct' : 'indirect'}>
        {verb}
      </span>{' '}
      {columns.map(({ dataset, columns: names }, index) => (
        <Fragment key={dataset}>
          {index > 0 && ', '}
          <Listed dataset={dataset} columns={names} /> of {labelOf(graph, dataset)}
        </Fragment>
      ))}
      {end}
    </>
  )
}

function Listed({ dataset, columns }: ColumnsOf) {
  return columns.map((column, index) => (
    <Fragment key={column}>
      {index > 0 && ', '}
      <ColumnButton column={{ dataset, column }} />
    </Fragment>
  ))
}

interface ColumnListProps extends ColumnsOf {
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
