import type { Client } from '../api/client'
import { type ColumnGraph, columnGraph } from '../core/columns'
import type { LineageGraph } from '../core/graph'
import type { NodeId } from '../core/ids'
import type { Loadable } from '../core/loadable'
import { useLoaded } from './useLoaded'

/** The columns around a dataset, both ways; nothing is asked for a job. */
export function useColumns(
  client: Client,
  graph: LineageGraph,
  revision: number,
  node: NodeId | undefined,
): Loadable<ColumnGraph> {
  const isDataset = node !== undefined && graph.nodes.get(node)?.kind === 'dataset'
  return useLoaded(isDataset ? node : undefined, revision, async () =>
    columnGraph(node === undefined ? { graph: [] } : await client.columnLineage(node)),
  )
}
