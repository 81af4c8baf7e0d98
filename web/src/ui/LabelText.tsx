import type { Label } from '../core/labels'

/** A label with its path subdued; the text reads as one name. */
export function LabelText({ label: { path, name } }: { label: Label }) {
  return (
    <span className="label">
      {path && <span className="label-path">{path}</span>}
      <span className="label-name">{name}</span>
    </span>
  )
}
