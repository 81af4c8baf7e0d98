import { directionOf } from '../core/isolated'
import type { Label } from '../core/labels'
import { Name } from './Name'

interface LabelTextProps {
  readonly label: Label
  /** Whether it may wrap. */
  readonly breaks?: boolean
}

/** A label with its path subdued; the text reads as one name. */
export function LabelText({ label: { path, name }, breaks = false }: LabelTextProps) {
  return (
    <span className="label" dir={directionOf(path + name)}>
      {path && <span className="label-path">{breaks ? <Name text={path} /> : path}</span>}
      {breaks && <wbr />}
      <span className="label-name">{breaks ? <Name text={name} /> : name}</span>
    </span>
  )
}
