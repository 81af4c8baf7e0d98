import { useEffect, useRef } from 'react'
import { formatCount } from '../core/format'
import { focusOn, isByKey } from './focusTransfer'
import type { More } from './useMore'

interface ShowMoreProps {
  readonly more: More
  /** The number of items shown now. */
  readonly shown: number
  readonly totalCount: number
}

/** A button to show more of the list before it; used by key, it moves the focus to the first new item. */
export function ShowMore({ more, shown, totalCount }: ShowMoreProps) {
  const container = useRef<HTMLDivElement>(null)
  const first = useRef<number>(undefined)
  useEffect(() => {
    if (first.current === undefined || shown <= first.current) return
    const list = container.current?.previousElementSibling
    const items = list instanceof HTMLTableElement ? list.tBodies[0]?.rows : list?.children
    const next = items?.[first.current] ?? list // a sentence with names has no items
    first.current = undefined
    focusOn(next)
  }, [shown])
  const wanted = shown < more.count ? more.count : more.next // requested items may still be loading
  return (
    <div ref={container}>
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
