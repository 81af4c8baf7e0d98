import { type ReactNode, useEffect, useRef } from 'react'
import { CloseIcon } from '../icons'
import { usePage } from '../page'
import { titleOf } from '../titleOf'
import { useFocusBack } from '../useFocusBack'

interface PanelProps {
  readonly subject: string
  readonly head: ReactNode
  readonly children: ReactNode
}

/** The side panel: what it is about, a way out, and the rest. Takes a focus that is nowhere. */
export function Panel({ subject, head, children }: PanelProps) {
  const { leave, landing } = usePage()
  const panel = useRef<HTMLElement>(null)
  useFocusBack(() => titleOf(subject))
  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject is what one wants to see
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' }) // it may be below what the window shows
  }, [subject])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject is what the keyboard is led to
  useEffect(() => {
    if (landing?.take('details')) panel.current?.querySelector('h2')?.focus({ preventScroll: true })
    else if (document.activeElement === document.body) panel.current?.focus({ preventScroll: true })
  }, [subject, landing])
  return (
    <aside className="panel" aria-label="Details" ref={panel} tabIndex={-1}>
      <div className="panel-head">
        {head}
        <button type="button" className="icon-button" aria-label="Close details" onClick={leave}>
          <CloseIcon />
        </button>
      </div>
      <div className="panel-body">{children}</div>
    </aside>
  )
}
