import type { Lit } from '../../core/lit'
import { counted } from '../../core/wording'

interface LegendProps {
  readonly lit: Lit
  readonly withIndirect: boolean
  readonly onChange: (withIndirect: boolean) => void
}

/** Explains the lit lines, and lets the reader leave out the indirect ones. */
export function Legend({ lit: { path }, withIndirect, onChange }: LegendProps) {
  const [up, down] = [path.upstream.columns.size, path.downstream.columns.size]
  return (
    <div className="legend">
      <span className="legend-item">
        <Line kind="direct" /> direct
      </span>
      <label
        className="legend-item"
        title="filters, joins, groupings, orders: they steer, but put no value in"
      >
        <input
          type="checkbox"
          checked={withIndirect}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <Line kind="indirect" /> indirect
      </label>
      <span className="legend-count" role="status">
        {counted(up, 'column')} upstream, {down} downstream
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
