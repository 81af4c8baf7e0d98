import { type PointerEvent, useEffect, useState } from 'react'

const ENDS = ['pointerup', 'pointercancel', 'contextmenu', 'blur'] as const

/**
 * The newest value; while a pointer button is pressed, the value from before that: a pressed element must not move
 * away before the click.
 */
export function useFrozenWhilePressed<T>(newest: T) {
  const [isPressed, setPressed] = useState(false)
  const [shown, setShown] = useState(newest)
  if (!isPressed && shown !== newest) setShown(newest)

  useEffect(() => {
    if (!isPressed) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const release = () => {
      timer = setTimeout(() => setPressed(false)) // the click event follows pointerup
    }
    for (const end of ENDS) window.addEventListener(end, release)
    return () => {
      clearTimeout(timer)
      for (const end of ENDS) window.removeEventListener(end, release)
    }
  }, [isPressed])

  const onPointerDownCapture = ({ isPrimary }: PointerEvent) => setPressed(isPrimary)
  return [isPressed ? shown : newest, { onPointerDownCapture }] as const
}
