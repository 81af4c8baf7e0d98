import { useMemo } from 'react'
import type { Path } from '../api/types'
import type { ColumnGraph } from '../core/columns'
import type { LineageGraph } from '../core/graph'
import { type ColumnLit, lightUp } from '../core/lit'
import type { Loadable } from '../core/loadable'
import { litAtMost, litNeighbours, litPath, type NodeLit } from '../core/path'
import type { GraphRoute } from '../core/route'

/** The lit path of the column in the route, as soon as its columns are known. */
export function useLitColumn(
  graph: LineageGraph,
  columns: Loadable<ColumnGraph>,
  path: Loadable<Path>,
  { node, column }: GraphRoute,
  withIndirect: boolean,
): ColumnLit | undefined {
  return useMemo(() => {
    if (!node || !column || columns.state !== 'ready' || path.state === 'loading') return undefined
    const whole = path.state === 'ready' ? litPath(node, path.value) : undefined
    return lightUp(graph, columns.value, { dataset: node, column }, withIndirect, whole)
  }, [graph, columns, path, node, column, withIndirect])
}

/** The lit path of the node in the route; until it is loaded the node's neighbours, so that the path only grows. */
export function useLitNode(
  graph: LineageGraph,
  path: Loadable<Path>,
  { node }: GraphRoute,
): NodeLit | undefined {
  return useMemo(() => {
    if (!node || !graph.nodes.has(node)) return undefined
    switch (path.state) {
      case 'loading':
        return litNeighbours(graph, node)
      case 'failed':
        return litAtMost(graph, node)
      case 'ready':
        return litPath(node, path.value)
    }
  }, [graph, path, node])
}
