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

export interface GraphPaneProps {
  readonly graph: LineageGraph
  readonly columns: Loadable<ColumnGraph>
  readonly route: GraphRoute
  readonly unfolded: ReadonlySet<NodeId>
  readonly shownByPile: ReadonlyMap<NodeId, number>
  readonly anchor: NodeId | undefined
  readonly findLayout: FindLayout
}

/** The graph with the reader's choices. */
export function GraphPane(props: GraphPaneProps) {
  const { graph, columns, route, unfolded, shownByPile, anchor, findLayout } = props
  const open = route.node
  const [withIndirect, setWithIndirect] = useState(true)
  const path = usePath(open)
  const column = useLitColumn(graph, columns, path, route, withIndirect)
  const node = useLitNode(graph, path, route)
  // A node's path does not affect what is drawn: else the layout would change again when the path arrives.
  const piles = useMemo(
    () => piled(graph, { open, lit: column, shownByPile }),
    [graph, open, column, shownByPile],
  )
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
