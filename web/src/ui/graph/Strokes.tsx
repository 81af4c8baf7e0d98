import { memo } from 'react'
import type { Stroke } from '../../core/strokes'

/** All lines in one SVG, below the cards. */
export const Strokes = memo(function Strokes({ strokes }: { strokes: readonly Stroke[] }) {
  return (
    <svg className="strokes" aria-hidden="true">
      {strokes.map(({ key, d, kind, tone }) => (
        <path key={kind + key} className="stroke" data-kind={kind} data-tone={tone} d={d} />
      ))}
    </svg>
  )
})
