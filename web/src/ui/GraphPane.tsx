import { useMemo, useState } from 'react'
import type { ColumnGraph } from '../core/columns'
import type { LineageGraph } from '../core/graph'
import type { NodeId } from '../core/ids'
import type { Loadable } from '../core/loadable'
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
  readonly anchor: NodeId | undefined
  readonly findLayout: FindLayout
}

/** The graph with what the reader has chosen in it. */
export function GraphPane({ graph, columns, route, unfolded, anchor, findLayout }: GraphPaneProps) {
  const [withIndirect, setWithIndirect] = useState(true)
  const lit = useLit(graph, columns, route, withIndirect)
  const choices = useMemo(() => ({ unfolded, lit }), [unfolded, lit])
  const drawing = useDrawing(graph, choices, findLayout)
  if (!drawing) return <LoadingNotice />
  return (
    <>
      <GraphView drawing={drawing} open={route.node} lit={lit} anchor={anchor} />
      {lit && <Legend lit={lit} withIndirect={withIndirect} onChange={setWithIndirect} />}
    </>
  )
}
