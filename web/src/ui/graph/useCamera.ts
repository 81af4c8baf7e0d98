import { useReactFlow, useStore } from '@xyflow/react'
import { type FocusEvent, useEffect, useRef } from 'react'
import {
  anchored,
  CLOSE_ZOOM,
  centred,
  opening,
  READABLE_ZOOM,
  reveal,
  revealPath,
  type View,
} from '../../core/camera'
import type { Box, Size } from '../../core/geometry'
import { boundsOf } from '../../core/geometry'
import type { NodeId } from '../../core/ids'
import { type ColumnLit, isLit } from '../../core/lit'
import type { Layout } from '../../core/shape'
import type { Drawing } from '../../core/strokes'

const MOVE_MS = 260

interface Camera {
  readonly onMoveStart: (event: unknown) => void
  readonly onFocus: (event: FocusEvent) => void
}

interface Wish {
  readonly open: NodeId | undefined
  readonly lit: ColumnLit | undefined
  /** The node that the reader last acted on: it must not move on the screen. */
  readonly anchor: NodeId | undefined
}

/**
 * Moves the view as little as helps: shows all until the reader takes over, keeps in place the node that was acted
 * on, and brings into sight what was opened or lit.
 */
export function useCamera(drawing: Drawing, wish: Wish): Camera {
  const { getViewport, setViewport } = useReactFlow()
  const width = useStore((store) => store.width)
  const height = useStore((store) => store.height)
  const isFollowing = useRef(true)
  const isWishing = useRef(false)
  const before = useRef<Layout>(undefined)
  const { open, lit, anchor } = wish

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new choice is a new wish
  useEffect(() => {
    isWishing.current = open !== undefined
    if (anchor !== undefined) isFollowing.current = false
  }, [open, lit, anchor])

  useEffect(() => {
    const { layout } = drawing
    const canvas = { width, height }
    if (width === 0 || layout.boxes.size === 0) return
    const isFirst = before.current === undefined
    const now = getViewport()
    const rest =
      isFirst || isFollowing.current ? whole(layout, canvas) : still(now, before.current, layout, anchor)
    before.current = layout
    if (rest !== now) void setViewport(rest)
    const next = isWishing.current ? granted(rest, layout, canvas, { open, lit, anchor }) : rest
    if (next !== rest) void setViewport(next, { duration: isFirst || prefersStillness() ? 0 : MOVE_MS })
  }, [drawing, width, height, open, lit, anchor, getViewport, setViewport])

  return {
    onMoveStart: (event) => {
      if (!event) return // moved by us
      isFollowing.current = false
      isWishing.current = false
    },
    onFocus: ({ target }) => {
      const id =
        target.matches(':focus-visible') && target.closest('[data-node-id]')?.getAttribute('data-node-id')
      const box = id && drawing.layout.boxes.get(id as NodeId)
      if (box) void setViewport(reveal(box, getViewport(), { width, height }))
    },
  }
}

function whole({ boxes }: Layout, canvas: Size): View {
  const bounds = boundsOf(boxes.values())
  return bounds ? opening(bounds, canvas) : { x: 0, y: 0, zoom: 1 }
}

function still(view: View, before: Layout | undefined, after: Layout, anchor: NodeId | undefined): View {
  const [from, to] = anchor ? [before?.boxes.get(anchor), after.boxes.get(anchor)] : []
  return from && to ? anchored(view, from, to) : view
}

function granted(view: View, { boxes }: Layout, canvas: Size, { open, lit }: Wish): View {
  const box = open && boxes.get(open)
  if (!box) return view
  if (view.zoom < READABLE_ZOOM && !lit) return centred(box, canvas, CLOSE_ZOOM)
  if (!lit) return reveal(box, view, canvas)
  const path: Box[] = [...boxes].filter(([id]) => isLit(lit, id)).map(([, lit]) => lit)
  return revealPath(boundsOf(path) ?? box, box, view, canvas)
}

function prefersStillness(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches
}
