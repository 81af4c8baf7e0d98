import type { Node } from '@xyflow/react'
import type { Card } from '../../core/cards'
import type { NodeId } from '../../core/ids'
import type { Drawing } from '../../core/strokes'

/** A card as a node of React Flow. */
export type CardNode = Node<{ readonly card: Card; readonly isOpen: boolean }, Card['node']['kind']>

/** From left to right, so that Tab moves in reading order. */
export function flowNodes({ cards, layout }: Drawing, open: NodeId | undefined): CardNode[] {
  const nodes = [...cards].flatMap(([id, card]) => {
    const box = layout.boxes.get(id)
    if (!box) return []
    const { x, y, width, height } = box
    const style = { pointerEvents: 'all' } as const // React Flow disables it for nodes that cannot be dragged
    return [
      {
        id,
        type: card.node.kind,
        position: { x, y },
        width,
        height,
        style,
        data: { card, isOpen: id === open },
      },
    ]
  })
  return nodes.sort(({ position: a }, { position: b }) => a.x - b.x || a.y - b.y)
}
