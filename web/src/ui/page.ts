import { createContext, use } from 'react'
import type { Client } from '../api/client'
import type { LineageGraph } from '../core/graph'
import type { ColumnRef, NodeId } from '../core/ids'
import type { Pile } from '../core/piles'
import type { Question } from '../core/route'
import type { FocusTransfer, Place } from './focusTransfer'

/** What every part of the page may need: the data, and the ways to move about. */
export interface Page {
  readonly client: Client
  readonly graph: LineageGraph
  /** The time that is shown; undefined is now. */
  readonly asOf: string | undefined
  /** Shows another time. */
  readonly travel: (asOf: string | undefined) => void
  /** Grows with what the service learns. */
  readonly revision: number
  /** Grows when an event touched anything in the graph. */
  readonly drawn: number
  /** Grows when an event touched the open node, what it is made from or what is made from it. */
  readonly around: number
  /** Grows when an event touched the node. */
  readonly revisionOf: (node: NodeId) => number
  readonly openNode: (node: NodeId) => void
  /** Shows a machine's record closely. */
  readonly openMachine: (machine: string) => void
  /** Lights the column's path, or puts it out if it is lit. */
  readonly toggleColumn: (column: ColumnRef) => void
  readonly toggleFold: (node: NodeId) => void
  /** Draws more of what a pile stands for. */
  readonly spread: (pile: Pile) => void
  /** The questions that are open. */
  readonly asked: readonly Question[]
  /** Opens or closes a question. */
  readonly ask: (question: Question, isOpen: boolean) => void
  /** Since when it is asked what changed, if the reader chose that. */
  readonly since: string | undefined
  readonly askSince: (since: string) => void
  /** Whether it is asked what breaks once what is open is dropped. */
  readonly isDrop: boolean
  readonly askDrop: (isDrop: boolean) => void
  /** Leads the keyboard on to a place, once it is there, if a key made the click. */
  readonly lead: (place: Place, click: { readonly detail: number }) => void
  readonly landing: FocusTransfer | undefined
  /** Puts out the lit path, or else closes the details. */
  readonly close: () => void
  /** Closes the details, whatever is lit. */
  readonly leave: () => void
}

export const PageContext = createContext<Page | undefined>(undefined)

export function usePage(): Page {
  const page = use(PageContext)
  if (!page) throw new Error('usePage is called outside of PageContext')
  return page
}
