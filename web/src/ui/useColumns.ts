import type { Client } from '../api/client'
import { type ColumnGraph, columnGraph } from '../core/columns'
import type { LineageGraph } from '../core/graph'
import type { NodeId } from '../core/ids'
import type { Loadable } from '../core/loadable'
import { useLoaded } from './useLoaded'
import { useThrottledRevision } from './useThrottledRevision'

/**
 * The columns around a dataset, both ways; nothing is asked for a job. `revision` grows with what bears on it: of a wide
 * dataset with many readers the answer is megabytes long.
 */
export function useColumns(
  client: Client,
  graph: LineageGraph,
  revision: number,
  node: NodeId | undefined,
): Loadable<ColumnGraph> {
  const isDataset = node !== undefined && graph.nodes.get(node)?.kind === 'dataset'
  const asked = useThrottledRevision(revision, undefined, node)
  return useLoaded(isDataset ? node : undefined, asked, async (signal) =>
    columnGraph(node === undefined ? { graph: [] } : await client.columnLineage(node, signal)),
  )
}
