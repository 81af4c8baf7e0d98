import { type ReactNode, useEffect, useRef } from 'react'
import { CloseIcon } from '../icons'
import { usePage } from '../page'

interface PanelProps {
  readonly subject: string
  readonly head: ReactNode
  readonly children: ReactNode
}

/** The side panel: what it is about, a way out, and the rest. Takes a focus that is nowhere. */
export function Panel({ subject, head, children }: PanelProps) {
  const { leave } = usePage()
  const panel = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject is what the keyboard is led to
  useEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus({ preventScroll: true })
  }, [subject])
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
