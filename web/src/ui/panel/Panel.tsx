import type { ReactNode } from 'react'
import { CloseIcon } from '../icons'
import { usePage } from '../page'

/** The side panel: what it is about, a way out, and the rest. */
export function Panel({ head, children }: { head: ReactNode; children: ReactNode }) {
  const { leave } = usePage()
  return (
    <aside className="panel" aria-label="Details">
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
