import { useEffect, useRef } from 'react'
import type { View } from '../core/route'
import { focusOn } from './focusTransfer'

/** When a view goes that had the focus, it goes on at what the next one begins with. */
export function useFocusAhead(view: View): void {
  const before = useRef(view)
  useEffect(() => {
    const isAnother = before.current !== view
    before.current = view
    if (!isAnother || document.activeElement !== document.body) return
    focusOn(document.querySelector('main :is(h2, .canvas)'))
  }, [view])
}
