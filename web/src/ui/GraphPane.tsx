import { useMemo, useState } from 'react'
import type { ColumnGraph } from '../core/columns'
import type { LineageGraph } from '../core/graph'
import type { NodeId } from '../core/ids'
import { litOver } from '../core/lit'
import type { Loadable } from '../core/loadable'
import { piled } from '../core/piles'
import type { GraphRoute } from '../core/route'
import { GraphView } from './graph/GraphView'
import { Legend } from './graph/Legend'
import type { FindLayout } from './layoutEngine'
import { LoadingNotice } from './Notices'
import { useDrawing } from './useDrawing'
import { useLitColumn, useLitNode } from './useLit'
import { usePath } from './usePath'

interface GraphPaneProps {
  readonly graph: LineageGraph
  readonly columns: Loadable<ColumnGraph>
  readonly route: GraphRoute
  readonly unfolded: ReadonlySet<NodeId>
  readonly spread: ReadonlyMap<NodeId, number>
  readonly anchor: NodeId | undefined
  readonly findLayout: FindLayout
}

/** The graph with what the reader has chosen in it. */
export function GraphPane(props: GraphPaneProps) {
  const { graph, columns, route, unfolded, spread, anchor, findLayout } = props
  const open = route.node
  const [withIndirect, setWithIndirect] = useState(true)
  const path = usePath(open)
  const column = useLitColumn(graph, columns, path, route, withIndirect)
  const node = useLitNode(graph, path, route)
  // The path of a node is shown over what is drawn: else all would move once more when it is here.
  const piles = useMemo(() => piled(graph, { open, lit: column, spread }), [graph, open, column, spread])
  const whole = route.column === undefined ? node : column
  const lit = useMemo(() => whole && litOver(whole, piles.drawnAs), [whole, piles])
  const choices = useMemo(() => ({ unfolded, lit }), [unfolded, lit])
  const drawing = useDrawing(piles.graph, choices, findLayout)
  if (!drawing) return <LoadingNotice />
  return (
    <>
      <GraphView drawing={drawing} open={open} lit={lit} anchor={anchor} />
      {lit && <Legend lit={lit} withIndirect={withIndirect} onChange={setWithIndirect} />}
    </>
  )
}
