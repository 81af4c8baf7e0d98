import { useEffect, useRef } from 'react'
import type { View } from '../core/route'
import { focusOn } from './focusTransfer'

/** If a view that had the focus is replaced, moves the focus to the start of the next view. */
export function useFocusNextView(view: View): void {
  const before = useRef(view)
  useEffect(() => {
    const hasChanged = before.current !== view
    before.current = view
    if (!hasChanged || document.activeElement !== document.body) return
    focusOn(document.querySelector('main :is(h2, .canvas)'))
  }, [view])
}
