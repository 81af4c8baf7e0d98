import { formatCount } from '../core/format'
import { formatRoute } from '../core/route'

/** A link to an entry of the log. */
export function EntryLink({ index, digest }: { index: number; digest: string }) {
  return (
    <a
      className="link"
      title={`SHA-256 of its bytes: ${digest}`}
      href={formatRoute({ view: 'entry', index })}
    >
      entry {formatCount(index)}
    </a>
  )
}
