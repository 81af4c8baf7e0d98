import { formatTime } from '../core/format'

/** A time in the reader's time zone, with UTC in the tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {formatTime(at, new Date())}
    </time>
  )
}
