import { useEffect, useEffectEvent } from 'react'

/** Calls `act` when the key is pressed outside of a text field. */
export function useKey(key: string, act: (event: KeyboardEvent) => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === key && !event.defaultPrevented && !isTyping(event.target)) act(event)
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event)
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
}
