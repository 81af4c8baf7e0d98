import { formatCount } from '../../core/format'
import type { ColumnLit, Lit } from '../../core/lit'
import type { Reach } from '../../core/path'
import { counted } from '../../core/wording'

interface LegendProps {
  readonly lit: Lit
  readonly withIndirect: boolean
  readonly onChange: (withIndirect: boolean) => void
}

/** The size of the lit path; for a column also the kinds of lines. */
export function Legend({ lit, ...choice }: LegendProps) {
  if (lit.kind === 'column') return <ColumnLegend lit={lit} {...choice} />
  return lit.reach ? <NodeLegend reach={lit.reach} /> : null
}

function NodeLegend({ reach: { upstream, downstream, isCut } }: { reach: Reach }) {
  return (
    <div className="legend">
      <span className="legend-count" role="status">
        {counted(upstream, 'dataset')} upstream, {formatCount(downstream)} downstream
        {isCut && ', and more beyond'}
      </span>
    </div>
  )
}

/** With a checkbox to hide indirect lines. */
function ColumnLegend({ lit: { path }, withIndirect, onChange }: LegendProps & { lit: ColumnLit }) {
  const { upstream, downstream } = path
  return (
    <div className="legend">
      <span className="legend-item">
        <Line kind="direct" /> direct
      </span>
      <label
        className="legend-item"
        title="filters, joins, grouping, sorting: they affect the target, but no value goes into it"
      >
        <input
          type="checkbox"
          checked={withIndirect}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <Line kind="indirect" /> indirect
      </label>
      <span className="legend-count" role="status">
        {counted(upstream.columns.size, 'column')} upstream, {formatCount(downstream.columns.size)} downstream
        {(upstream.isCut || downstream.isCut) && ', perhaps more beyond'}
      </span>
    </div>
  )
}

function Line({ kind }: { kind: 'direct' | 'indirect' }) {
  return (
    <svg className="legend-line" viewBox="0 0 26 8" aria-hidden="true">
      <path className="stroke" data-kind={kind} data-tone="plain" d="M1 4h24" />
    </svg>
  )
}
