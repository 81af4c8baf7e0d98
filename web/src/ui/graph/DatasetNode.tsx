import type { NodeProps } from '@xyflow/react'
import { memo } from 'react'
import type { Field } from '../../api/types'
import type { Card, Row } from '../../core/cards'
import { formatCount } from '../../core/format'
import type { NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import { labelText } from '../../core/labels'
import { fullName } from '../../core/nodeLabels'
import { counted } from '../../core/wording'
import { ChevronIcon, TableIcon } from '../icons'
import { LabelText } from '../LabelText'
import { usePage } from '../page'
import type { CardNode } from './flow'

export const DatasetNode = memo(function DatasetNode({ data: { card, isOpen } }: NodeProps<CardNode>) {
  const { moveFocus, openNode } = usePage()
  const { node, label, dim, rows, more, unfolded } = card
  return (
    <article
      className="card dataset"
      data-testid="node"
      data-node-id={node.id}
      data-dim={dim}
      data-open={isOpen}
    >
      <div className="card-head">
        <button
          type="button"
          className="card-title"
          title={fullName(node)}
          aria-label={`Dataset ${labelText(label)}`}
          aria-pressed={isOpen}
          onClick={(click) => {
            openNode(node.id)
            moveFocus('details', click)
          }}
        >
          <TableIcon />
          <LabelText label={label} />
        </button>
        <FoldButton card={card} />
      </div>
      {(rows.length > 0 || more > 0) && (
        <ul className="rows" aria-label={`Columns of ${labelText(label)}`}>
          {rows.map((row) => (
            <ColumnRow key={row.field.name} node={node.id} row={row} />
          ))}
          {more > 0 && (
            <li className="row-more">
              {unfolded ? `${formatCount(more)} more in the details` : litText(rows.length, more)}
            </li>
          )}
        </ul>
      )}
    </article>
  )
})

/** The tooltip of a column: all that does not fit its row. */
function columnTooltip({ name, type, description }: Field): string {
  const head = type ? `${isolated(name)} ${isolated(type)}` : name
  return description ? `${head}\n${description}` : head
}

function litText(drawn: number, more: number): string {
  return drawn > 0 ? `${formatCount(more)} more on the path` : `${counted(more, 'column')} on the path`
}

function FoldButton({ card: { node, label, unfolded } }: { card: Card }) {
  const { toggleFold } = usePage()
  const count = node.kind === 'dataset' ? node.dataset.fields.length : 0
  if (count === 0) return null
  const action = unfolded ? 'Hide' : 'Show'
  return (
    <button
      type="button"
      className="fold"
      aria-expanded={unfolded}
      aria-label={`${action} the ${counted(count, 'column')} of ${labelText(label)}`}
      onClick={() => toggleFold(node.id)}
    >
      {formatCount(count)}
      <ChevronIcon />
    </button>
  )
}

function ColumnRow({ node, row: { field, glow } }: { node: NodeId; row: Row }) {
  const { moveFocus, toggleColumn } = usePage()
  const lit = glow === undefined ? undefined : glow !== 'dim'
  return (
    <li>
      <button
        type="button"
        className="row"
        data-testid="column"
        data-node-id={node}
        data-column={field.name}
        data-lit={lit}
        data-glow={glow}
        aria-pressed={glow === 'start'}
        title={columnTooltip(field)}
        onClick={(click) => {
          toggleColumn({ dataset: node, column: field.name })
          if (glow !== 'start') moveFocus('story', click)
        }}
      >
        <span className="row-name">{field.name}</span>
        <span className="row-type">{field.type}</span>
      </button>
    </li>
  )
}
