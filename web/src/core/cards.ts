/** The content of each node's card, and so its size. */

import type { Dataset, Field } from '../api/types'
import { edgesOf } from './flow'
import type { Size } from './geometry'
import type { NodeId } from './ids'
import { type Label, labelText, NARROW_ROOM } from './labels'
import { type Glow, isLit, type Lit } from './lit'
import { withMembers } from './members'
import { uniqueLabel } from './nodeLabels'
import type { DrawnGraph, DrawnNode } from './piles'
import type { Shape } from './shape'

export interface Row {
  readonly field: Field
  /** Undefined if no column's path is lit. */
  readonly glow: Glow | 'dim' | undefined
}

export interface Card {
  readonly node: DrawnNode
  readonly label: Label
  readonly rows: readonly Row[]
  /** How many columns have no row: of an unfolded dataset those beyond the limit, of a folded one collapsed lit ones. */
  readonly more: number
  readonly unfolded: boolean
  readonly dim: boolean
}

/** What the reader has unfolded and lit. */
export interface Choices {
  readonly unfolded: ReadonlySet<NodeId>
  readonly lit: Lit | undefined
}

export const HEAD_HEIGHT = 46
export const ROW_HEIGHT = 22
const FOOT_HEIGHT = 6
const WIDTH = 184
const NARROW = 144
const MAX_ROWS = 100

export function cardsOf(graph: DrawnGraph, choices: Choices): Map<NodeId, Card> {
  return new Map([...graph.nodes].map(([id, node]) => [id, cardOf(node, choices)]))
}

export function sizeOf({ node, label, rows, more }: Card): Size {
  const isNarrow = node.kind === 'job' && labelText(label).length <= NARROW_ROOM
  const lines = rows.length + Number(more > 0)
  const height = HEAD_HEIGHT + (lines > 0 ? lines * ROW_HEIGHT + FOOT_HEIGHT : 0)
  return { width: isNarrow ? NARROW : WIDTH, height }
}

export function shapeOf(graph: DrawnGraph, cards: ReadonlyMap<NodeId, Card>): Shape {
  const boxes = new Map([...cards].map(([id, card]) => [id, sizeOf(card)]))
  return { boxes, edges: edgesOf(graph) }
}

function cardOf(node: DrawnNode, { unfolded, lit }: Choices): Card {
  const open = unfolded.has(node.id)
  const rows = node.kind === 'dataset' ? rowsOf(node.dataset, open, lit, node.id) : []
  const collapsed = lit?.kind === 'column' ? lit.collapsed.get(node.id) : undefined
  const hasOwnRow = (row: Row) => isGlowing(row) && !collapsed?.has(row.field.name)
  const shown = rows.filter((row, index) => (open && index < MAX_ROWS) || hasOwnRow(row))
  return {
    node,
    label: uniqueLabel(node),
    rows: shown,
    more: rows.length - shown.length,
    unfolded: open,
    dim: lit !== undefined && !isLit(lit, node.id),
  }
}

/** All columns of an unfolded dataset; the lit ones of a folded dataset. */
function rowsOf({ fields }: Dataset, open: boolean, lit: Lit | undefined, id: NodeId): Row[] {
  const column = lit?.kind === 'column' ? lit : undefined
  const glows = column?.columns.get(id)
  const known = new Set(fields.map(({ name }) => name))
  const unknown = [...(glows?.keys() ?? [])].filter((name) => !known.has(name))
  const members = new Map(
    unknown.length > 0 ? withMembers(fields).map((member) => [member.name, member] as const) : [],
  )
  const all = [
    ...fields,
    ...unknown.map((name) => members.get(name) ?? { name, type: null, description: null }),
  ]
  const rows = all.map((field) => ({ field, glow: column && (glows?.get(field.name) ?? ('dim' as const)) }))
  return open ? rows : rows.filter(isGlowing)
}

function isGlowing({ glow }: Row): boolean {
  return glow !== undefined && glow !== 'dim'
}
