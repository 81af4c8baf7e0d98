import { type ReactNode, useEffect, useRef } from 'react'
import { CloseIcon } from '../icons'
import { usePage } from '../page'
import { titleOf } from '../titleOf'
import { useRestoreFocus } from '../useRestoreFocus'

interface PanelProps {
  readonly subject: string
  readonly head: ReactNode
  readonly children: ReactNode
}

/** The side panel: a heading, a close button and the content. Takes the focus if no element has it. */
export function Panel({ subject, head, children }: PanelProps) {
  const { closeDetails, focusTransfer } = usePage()
  const panel = useRef<HTMLElement>(null)
  useRestoreFocus(() => titleOf(subject))
  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject is scrolled into sight
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' }) // it may be below the visible part of the window
  }, [subject])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus moves to another subject
  useEffect(() => {
    if (focusTransfer?.take('details')) panel.current?.querySelector('h2')?.focus({ preventScroll: true })
    else if (document.activeElement === document.body) panel.current?.focus({ preventScroll: true })
  }, [subject, focusTransfer])
  return (
    <aside className="panel" aria-label="Details" ref={panel} tabIndex={-1}>
      <div className="panel-head">
        {head}
        <button type="button" className="icon-button" aria-label="Close details" onClick={closeDetails}>
          <CloseIcon />
        </button>
      </div>
      <div className="panel-body">{children}</div>
    </aside>
  )
}
