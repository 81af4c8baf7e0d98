import { Fragment } from 'react'
import { formatCount } from '../../core/format'
import type { ColumnRef, NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import { labelOf } from '../../core/nodeLabels'
import { type ColumnsOf, counted, isCounted, mentioned, type Phrase } from '../../core/wording'
import { usePage } from '../page'

/** "aggregated from arr_delay of lake.curated.flights"; "grouped by 105 columns of lake.raw.wide, which affect …" */
export function PhraseText({ phrase, end }: { phrase: Phrase; end: string }) {
  const { graph } = usePage()
  const { verb, direct, ofAll } = phrase
  const { columns, left } = mentioned(phrase)
  return (
    <>
      <span className="verb" data-kind={direct ? 'direct' : 'indirect'}>
        {verb}
      </span>{' '}
      {columns.map((each, index) => (
        <Fragment key={each.dataset}>
          {index > 0 && ', '}
          <Columns of={each} isCounted={isCounted(phrase, each)} /> of {labelOf(graph, each.dataset)}
        </Fragment>
      ))}
      {left > 0 && ` and ${formatCount(left)} more`}
      {ofAll && `, ${ofAll}`}
      {end}
    </>
  )
}

function Columns({ of: { dataset, columns }, isCounted }: { of: ColumnsOf; isCounted: boolean }) {
  if (columns === 'all') return 'all columns'
  return isCounted ? counted(columns.length, 'column') : <Listed dataset={dataset} columns={columns} />
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
      {isolated(column.column)}
    </button>
  )
}
