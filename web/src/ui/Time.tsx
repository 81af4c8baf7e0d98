import { formatTime } from '../core/format'

/** A moment as people read it, in UTC in the tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {formatTime(at, new Date())}
    </time>
  )
}
