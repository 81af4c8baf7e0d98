import { useEffect, useEffectEvent } from 'react'

/**
 * If the component loses the focus by being unmounted, moves it to the element that `preferred` gives, or back to the
 * one that had it before the component was mounted.
 */
export function useRestoreFocus(preferred: () => HTMLElement | null = () => null): void {
  const findPreferred = useEffectEvent(preferred)
  useEffect(() => {
    const before = document.activeElement
    return () => {
      if (document.activeElement !== document.body) return
      const back =
        findPreferred() ?? (before instanceof HTMLElement && before.isConnected ? before : undefined)
      back?.focus({ preventScroll: true })
    }
  }, [])
}
