import { useEffect, useMemo, useState } from 'react'
import { type Choices, cardsOf, shapeOf } from '../core/cards'
import type { DrawnGraph } from '../core/piles'
import { shapeKey } from '../core/shape'
import { type Drawing, provisional } from '../core/strokes'
import type { FindLayout } from './layoutEngine'

/**
 * The newest drawing whose layout is known: cards and layout always belong together, so a box that grows does not
 * cover its neighbours while the new layout is computed.
 */
export function useDrawing(graph: DrawnGraph, choices: Choices, findLayout: FindLayout): Drawing | undefined {
  const cards = useMemo(() => cardsOf(graph, choices), [graph, choices])
  const shape = useMemo(() => shapeOf(graph, cards), [graph, cards])
  const key = useMemo(() => shapeKey(shape), [shape])
  const [placed, setPlaced] = useState<{ key: string; drawing: Drawing }>()

  useEffect(() => {
    let isWanted = true
    const place = async () => {
      const layout = placed?.key === key ? placed.drawing.layout : await findLayout(shape)
      if (isWanted) setPlaced({ key, drawing: { graph, cards, layout } })
    }
    if (placed?.key !== key) void place()
    return () => {
      isWanted = false
    }
  }, [graph, cards, shape, key, placed, findLayout])

  return useMemo(() => {
    if (placed?.key === key) return { graph, cards, layout: placed.drawing.layout }
    return placed && provisional(placed.drawing, cards)
  }, [placed, key, graph, cards])
}
