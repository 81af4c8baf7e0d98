/** The graph of columns: edges from source to target columns, with their transformations. */

import type { ColumnLineage, Transformation } from '../api/types'
import { type ColumnKey, type ColumnRef, columnKey, datasetId, type NodeId, wholeKey } from './ids'

export interface ColumnEdge {
  readonly from: ColumnKey
  readonly to: ColumnKey
  /** False if no value of the source enters the target: a filter, a join key, a sort order. */
  readonly direct: boolean
  readonly transformations: readonly Transformation[]
  /** It joins a column to the whole of its own dataset, or the reverse: no data flow. */
  readonly within: boolean
}

export interface ColumnGraph {
  readonly columns: ReadonlyMap<ColumnKey, ColumnRef>
  /** Datasets all of whose columns together are one end of an edge; an edge for each column would be too many. */
  readonly wholeDatasets: ReadonlyMap<ColumnKey, NodeId>
  /** Edges by their target. */
  readonly into: ReadonlyMap<ColumnKey, readonly ColumnEdge[]>
  /** Edges by their source. */
  readonly outOf: ReadonlyMap<ColumnKey, readonly ColumnEdge[]>
  /** There are more edges beyond the depth limit. */
  readonly isCut: boolean
}

/** The depth to which column lineage is requested, in steps; more than that of most columns. */
export const MAX_STEPS = 20

/** The lit columns that a dataset shows as rows; the others are counted. */
export const MAX_LIT = 20

/** If more columns than this are connected only by edges of whole datasets, they are counted and not shown. */
export const MAX_DATASETWISE = 10

export function columnGraph({ graph, isCut = false, datasetInputFields = [] }: ColumnLineage): ColumnGraph {
  const columns = new Map<ColumnKey, ColumnRef>()
  const wholeDatasets = new Map<ColumnKey, NodeId>()
  const keyOf = (dataset: NodeId, column: string): ColumnKey => {
    const ref = { dataset, column }
    const key = columnKey(ref)
    columns.set(key, ref)
    return key
  }
  const endAt = (dataset: NodeId, column: string | null, end: 'into' | 'outOf'): ColumnKey => {
    if (column !== null) return keyOf(dataset, column)
    const key = wholeKey(dataset, end)
    wholeDatasets.set(key, dataset)
    return key
  }
  const edges = graph.flatMap(({ data }) => {
    const to = keyOf(datasetId(data.namespace, data.dataset), data.field)
    return data.inputFields.map(({ namespace, dataset, field, transformations }) =>
      edgeOf(keyOf(datasetId(namespace, dataset), field), to, transformations),
    )
  })
  for (const { namespace, dataset, inputFields } of datasetInputFields) {
    const target = datasetId(namespace, dataset)
    for (const input of inputFields) {
      const from = endAt(datasetId(input.namespace, input.dataset), input.field, 'outOf')
      edges.push(edgeOf(from, endAt(target, input.targetField, 'into'), input.transformations))
    }
  }
  const all = [...edges, ...edgesWithin(columns, wholeDatasets)]
  return { columns, wholeDatasets, into: by(all, ({ to }) => to), outOf: by(all, ({ from }) => from), isCut }
}

function edgeOf(from: ColumnKey, to: ColumnKey, transformations: readonly Transformation[] = []): ColumnEdge {
  const direct = transformations.length === 0 || transformations.some(({ type }) => type === 'DIRECT')
  return { from, to, direct, transformations, within: false }
}

function edgesWithin(
  columns: ReadonlyMap<ColumnKey, ColumnRef>,
  wholeDatasets: ReadonlyMap<ColumnKey, NodeId>,
): ColumnEdge[] {
  const within = { direct: true, transformations: [], within: true }
  return [...columns].flatMap(([key, { dataset }]) => {
    const [into, outOf] = [wholeKey(dataset, 'into'), wholeKey(dataset, 'outOf')]
    return [
      ...(wholeDatasets.has(into) ? [{ ...within, from: into, to: key }] : []),
      ...(wholeDatasets.has(outOf) ? [{ ...within, from: key, to: outOf }] : []),
    ]
  })
}

function by(
  edges: readonly ColumnEdge[],
  end: (edge: ColumnEdge) => ColumnKey,
): Map<ColumnKey, ColumnEdge[]> {
  const found = new Map<ColumnKey, ColumnEdge[]>()
  for (const edge of edges) {
    const known = found.get(end(edge))
    if (known) known.push(edge)
    else found.set(end(edge), [edge])
  }
  return found
}
