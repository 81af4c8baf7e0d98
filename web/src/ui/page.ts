import { createContext, use } from 'react'
import type { Client } from '../api/client'
import type { LineageGraph } from '../core/graph'
import type { ColumnRef, NodeId } from '../core/ids'
import type { Pile } from '../core/piles'
import type { Question } from '../core/route'
import type { FocusTarget, FocusTransfer } from './focusTransfer'

/** The context of every part of the page: the data, the reader's choices and the navigation. */
export interface Page {
  readonly client: Client
  readonly graph: LineageGraph
  /** The time that is shown; undefined is now. */
  readonly asOf: string | undefined
  /** Shows another time; undefined is now. */
  readonly showAsOf: (asOf: string | undefined) => void
  /** Grows with every event. */
  readonly revision: number
  /** Grows when an event touches any node of the graph. */
  readonly graphRevision: number
  /** Grows when an event touches the open node or anything upstream or downstream of it. */
  readonly lineageRevision: number
  /** Grows when an event touches the node. */
  readonly nodeRevision: (node: NodeId) => number
  readonly openNode: (node: NodeId) => void
  /** Opens the details of a machine. */
  readonly openMachine: (machine: string) => void
  /** Lights the column's path, or unlights it if it is lit. */
  readonly toggleColumn: (column: ColumnRef) => void
  readonly toggleFold: (node: NodeId) => void
  /** Draws more of the neighbours in a pile. */
  readonly expandPile: (pile: Pile) => void
  readonly openQuestions: readonly Question[]
  readonly toggleQuestion: (question: Question, isOpen: boolean) => void
  /** The start of the period in "What changed?", if the reader chose it. */
  readonly since: string | undefined
  readonly setSince: (since: string) => void
  /** Whether "What depends on it?" also shows what breaks if it is dropped. */
  readonly isDrop: boolean
  readonly setIsDrop: (isDrop: boolean) => void
  /** If the click was made by a key, moves the focus to the target once that is rendered. */
  readonly moveFocus: (target: FocusTarget, click: { readonly detail: number }) => void
  readonly focusTransfer: FocusTransfer | undefined
  /** Unlights the column's path, or else closes the details. */
  readonly stepBack: () => void
  /** Closes the details, whatever is lit. */
  readonly closeDetails: () => void
}

export const PageContext = createContext<Page | undefined>(undefined)

export function usePage(): Page {
  const page = use(PageContext)
  if (!page) throw new Error('usePage is called outside of PageContext')
  return page
}
