import { useReactFlow, useStore } from '@xyflow/react'
import { type FocusEvent, useEffect, useRef } from 'react'
import {
  anchored,
  CLOSE_ZOOM,
  centred,
  initialView,
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

interface Focus {
  readonly open: NodeId | undefined
  readonly lit: ColumnLit | undefined
  /** The node that the reader last acted on: it must not move on the screen. */
  readonly anchor: NodeId | undefined
}

/**
 * Moves the view as little as possible: shows the whole graph until the reader moves it, keeps the anchor in place, and
 * brings an opened node or a lit path into sight.
 */
export function useCamera(drawing: Drawing, focus: Focus): Camera {
  const { getViewport, setViewport } = useReactFlow()
  const width = useStore((store) => store.width)
  const height = useStore((store) => store.height)
  const isFollowing = useRef(true)
  const isFocusPending = useRef(false)
  const before = useRef<Layout>(undefined)
  const { open, lit, anchor } = focus

  // biome-ignore lint/correctness/useExhaustiveDependencies: each new choice is to be brought into sight
  useEffect(() => {
    isFocusPending.current = open !== undefined
    if (anchor !== undefined) isFollowing.current = false
  }, [open, lit, anchor])

  useEffect(() => {
    const { layout } = drawing
    const canvas = { width, height }
    if (width === 0 || layout.boxes.size === 0) return
    const isFirst = before.current === undefined
    const now = getViewport()
    const steady =
      isFirst || isFollowing.current
        ? wholeGraph(layout, canvas)
        : keepAnchor(now, before.current, layout, anchor)
    before.current = layout
    if (steady !== now) void setViewport(steady)
    const next = isFocusPending.current ? focused(steady, layout, canvas, { open, lit, anchor }) : steady
    if (next !== steady) void setViewport(next, { duration: isFirst || prefersReducedMotion() ? 0 : MOVE_MS })
  }, [drawing, width, height, open, lit, anchor, getViewport, setViewport])

  return {
    onMoveStart: (event) => {
      if (!event) return // moved by this hook
      isFollowing.current = false
      isFocusPending.current = false
    },
    onFocus: ({ target }) => {
      const id =
        target.matches(':focus-visible') && target.closest('[data-node-id]')?.getAttribute('data-node-id')
      const box = id && drawing.layout.boxes.get(id as NodeId)
      if (box) void setViewport(reveal(box, getViewport(), { width, height }))
    },
  }
}

function wholeGraph({ boxes }: Layout, canvas: Size): View {
  const bounds = boundsOf(boxes.values())
  return bounds ? initialView(bounds, canvas) : { x: 0, y: 0, zoom: 1 }
}

function keepAnchor(view: View, before: Layout | undefined, after: Layout, anchor: NodeId | undefined): View {
  const [from, to] = anchor ? [before?.boxes.get(anchor), after.boxes.get(anchor)] : []
  return from && to ? anchored(view, from, to) : view
}

function focused(view: View, { boxes }: Layout, canvas: Size, { open, lit }: Focus): View {
  const box = open && boxes.get(open)
  if (!box) return view
  if (view.zoom < READABLE_ZOOM && !lit) return centred(box, canvas, CLOSE_ZOOM)
  if (!lit) return reveal(box, view, canvas)
  const path: Box[] = [...boxes].filter(([id]) => isLit(lit, id)).map(([, lit]) => lit)
  return revealPath(boundsOf(path) ?? box, box, view, canvas)
}

function prefersReducedMotion(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches
}
