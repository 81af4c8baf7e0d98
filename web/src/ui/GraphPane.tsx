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
import { useLit } from './useLit'

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
  const path = useLit(graph, columns, route, withIndirect)
  const piles = useMemo(() => piled(graph, { open, lit: path, spread }), [graph, open, path, spread])
  const lit = useMemo(() => path && litOver(path, piles.drawnAs), [path, piles])
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
