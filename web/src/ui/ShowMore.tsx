import { formatCount } from '../core/format'
import type { More } from './useMore'

interface ShowMoreProps {
  readonly more: More
  /** How many are here. */
  readonly shown: number
  readonly totalCount: number
}

/** The way to the rest of a long list; nothing where all of it is here. */
export function ShowMore({ more, shown, totalCount }: ShowMoreProps) {
  if (shown >= totalCount) return null
  const wanted = shown < more.count ? more.count : more.next // those that were asked for may be on their way
  return (
    <button type="button" className="link" onClick={more.show}>
      Show {wanted < totalCount ? 'the first' : 'all'} {formatCount(Math.min(wanted, totalCount))}
    </button>
  )
}
