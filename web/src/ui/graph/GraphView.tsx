import { Background, Controls, ReactFlow, ReactFlowProvider, ViewportPortal } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMemo } from 'react'
import type { NodeId } from '../../core/ids'
import type { Lit } from '../../core/lit'
import { columnStrokes, type Drawing, flowStrokes } from '../../core/strokes'
import { usePage } from '../page'
import { DatasetNode } from './DatasetNode'
import { flowNodes } from './flow'
import { JobNode } from './JobNode'
import { PileNode } from './PileNode'
import { Strokes } from './Strokes'
import { useCamera } from './useCamera'
import { useFrozenWhilePressed } from './useFrozenWhilePressed'

interface GraphViewProps {
  readonly drawing: Drawing
  readonly open: NodeId | undefined
  readonly lit: Lit | undefined
  /** The node that the reader last acted on. */
  readonly anchor: NodeId | undefined
}

const NODE_TYPES = { dataset: DatasetNode, job: JobNode, pile: PileNode }
/** Up to this many, rendering nodes out of sight costs less than mounting them when they come into sight. */
const MANY_NODES = 150

/** Draws the graph with the layout that the core computed. */
export function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  )
}

/** React Flow's role is `application`, which screen readers do not read through; the cards are lists and buttons. */
function asDocument(wrapper: HTMLElement | null): void {
  wrapper?.setAttribute('role', 'presentation')
}

function Canvas({ drawing: newest, open, lit, anchor }: GraphViewProps) {
  const { stepBack } = usePage()
  const [drawing, press] = useFrozenWhilePressed(newest)
  const nodes = useMemo(() => flowNodes(drawing, open), [drawing, open])
  const strokes = useMemo(() => {
    return [...flowStrokes(drawing, lit), ...(lit?.kind === 'column' ? columnStrokes(drawing, lit) : [])]
  }, [drawing, lit])
  const camera = useCamera(drawing, { open, lit: lit?.kind === 'column' ? lit : undefined, anchor })
  return (
    <ReactFlow
      ref={asDocument}
      nodes={nodes}
      nodeTypes={NODE_TYPES}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      elementsSelectable={false}
      disableKeyboardA11y // the cards consist of buttons
      onlyRenderVisibleElements={nodes.length > MANY_NODES}
      minZoom={0.08}
      maxZoom={1.6}
      onPaneClick={stepBack}
      {...camera}
      {...press}
    >
      <ViewportPortal>
        <Strokes strokes={strokes} />
      </ViewportPortal>
      <Background gap={24} size={1} />
      <Controls showInteractive={false} position="bottom-right" />
    </ReactFlow>
  )
}
