import { useEffect, useEffectEvent } from 'react'

/** When this goes and leaves the focus nowhere, it goes to what `better` gives, or back to where it was before. */
export function useFocusBack(better: () => HTMLElement | null = () => null): void {
  const findBetter = useEffectEvent(better)
  useEffect(() => {
    const before = document.activeElement
    return () => {
      if (document.activeElement !== document.body) return
      const back = findBetter() ?? (before instanceof HTMLElement && before.isConnected ? before : undefined)
      back?.focus({ preventScroll: true })
    }
  }, [])
}
