import type { Client } from '../api/client'
import { type ColumnGraph, columnGraph } from '../core/columns'
import type { LineageGraph } from '../core/graph'
import type { NodeId } from '../core/ids'
import type { Loadable } from '../core/loadable'
import { useLoaded } from './useLoaded'
import { useThrottledRevision } from './useThrottledRevision'

/**
 * The column lineage of a dataset, upstream and downstream; nothing is requested for a job. `revision` should grow only
 * with events that concern it: for a wide dataset with many readers the answer has megabytes.
 */
export function useColumns(
  client: Client,
  graph: LineageGraph,
  revision: number,
  node: NodeId | undefined,
): Loadable<ColumnGraph> {
  const isDataset = node !== undefined && graph.nodes.get(node)?.kind === 'dataset'
  const throttled = useThrottledRevision(revision, undefined, node)
  return useLoaded(isDataset ? node : undefined, throttled, async (signal) =>
    columnGraph(node === undefined ? { graph: [] } : await client.columnLineage(node, signal)),
  )
}
