import { useEffect, useRef } from 'react'
import { formatCount } from '../core/format'
import { focusOn, isByKey } from './focusTransfer'
import type { More } from './useMore'

interface ShowMoreProps {
  readonly more: More
  /** How many are here. */
  readonly shown: number
  readonly totalCount: number
}

/** The way to the rest of the long list that stands before it; the keyboard goes on at the first that came. */
export function ShowMore({ more, shown, totalCount }: ShowMoreProps) {
  const place = useRef<HTMLDivElement>(null)
  const first = useRef<number>(undefined)
  useEffect(() => {
    if (first.current === undefined || shown <= first.current) return
    const list = place.current?.previousElementSibling
    const items = list instanceof HTMLTableElement ? list.tBodies[0]?.rows : list?.children
    const next = items?.[first.current] ?? list // a sentence has no items
    first.current = undefined
    focusOn(next)
  }, [shown])
  const wanted = shown < more.count ? more.count : more.next // those that were asked for may be on their way
  return (
    <div ref={place}>
      {shown < totalCount && (
        <button
          type="button"
          className="link"
          onClick={(click) => {
            if (isByKey(click)) first.current = shown
            more.show()
          }}
        >
          Show {wanted < totalCount ? 'the first' : 'all'} {formatCount(Math.min(wanted, totalCount))}
        </button>
      )}
    </div>
  )
}
