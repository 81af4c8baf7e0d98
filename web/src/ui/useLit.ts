import { useMemo } from 'react'
import type { ColumnGraph } from '../core/columns'
import type { LineageGraph } from '../core/graph'
import { type Lit, lightUp } from '../core/lit'
import type { Loadable } from '../core/loadable'
import type { GraphRoute } from '../core/route'

/** The lit path of the column in the route, as soon as its columns are known. */
export function useLit(
  graph: LineageGraph,
  columns: Loadable<ColumnGraph>,
  { node, column }: GraphRoute,
  withIndirect: boolean,
): Lit | undefined {
  const known = columns.state === 'ready' ? columns.value : undefined
  return useMemo(
    () =>
      node && column && known ? lightUp(graph, known, { dataset: node, column }, withIndirect) : undefined,
    [graph, known, node, column, withIndirect],
  )
}
