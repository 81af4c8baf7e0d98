/** The graph of columns: which column goes into which, and how. */

import type { ColumnLineage, Transformation } from '../api/types'
import { type ColumnKey, type ColumnRef, columnKey, datasetId, type NodeId, wholeKey } from './ids'

export interface ColumnEdge {
  readonly from: ColumnKey
  readonly to: ColumnKey
  /** False if the source only steers the target: a filter, a join key, an order. */
  readonly direct: boolean
  readonly transformations: readonly Transformation[]
  /** It leads from all columns of a dataset to one of them, or from one to all: no data flows. */
  readonly within: boolean
}

export interface ColumnGraph {
  readonly columns: ReadonlyMap<ColumnKey, ColumnRef>
  /** Datasets of whose columns all are one end of an edge, which would be too many from column to column. */
  readonly wholes: ReadonlyMap<ColumnKey, NodeId>
  /** Edges by what they end at. */
  readonly into: ReadonlyMap<ColumnKey, readonly ColumnEdge[]>
  /** Edges by what they start from. */
  readonly outOf: ReadonlyMap<ColumnKey, readonly ColumnEdge[]>
  /** From some column it would lead on, further than was asked for. */
  readonly isCut: boolean
}

/** How many steps away columns are asked for: more than the lineage of most columns has. */
export const MOST_STEPS = 20

/** Of a dataset's columns on a path as many are drawn each; of those that are more, the others are counted. */
export const MOST_LIT = 20

/** Of columns that hang together with others only as all columns of a dataset do, more are counted and not shown. */
export const MOST_APART = 10

export function columnGraph({ graph, isCut = false, datasetInputFields = [] }: ColumnLineage): ColumnGraph {
  const columns = new Map<ColumnKey, ColumnRef>()
  const wholes = new Map<ColumnKey, NodeId>()
  const keyOf = (dataset: NodeId, column: string): ColumnKey => {
    const ref = { dataset, column }
    const key = columnKey(ref)
    columns.set(key, ref)
    return key
  }
  const endAt = (dataset: NodeId, column: string | null, end: 'into' | 'outOf'): ColumnKey => {
    if (column !== null) return keyOf(dataset, column)
    const key = wholeKey(dataset, end)
    wholes.set(key, dataset)
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
  const all = [...edges, ...edgesWithin(columns, wholes)]
  return { columns, wholes, into: by(all, ({ to }) => to), outOf: by(all, ({ from }) => from), isCut }
}

function edgeOf(from: ColumnKey, to: ColumnKey, transformations: readonly Transformation[] = []): ColumnEdge {
  const direct = transformations.length === 0 || transformations.some(({ type }) => type === 'DIRECT')
  return { from, to, direct, transformations, within: false }
}

function edgesWithin(
  columns: ReadonlyMap<ColumnKey, ColumnRef>,
  wholes: ReadonlyMap<ColumnKey, NodeId>,
): ColumnEdge[] {
  const within = { direct: true, transformations: [], within: true }
  return [...columns].flatMap(([key, { dataset }]) => {
    const [into, outOf] = [wholeKey(dataset, 'into'), wholeKey(dataset, 'outOf')]
    return [
      ...(wholes.has(into) ? [{ ...within, from: into, to: key }] : []),
      ...(wholes.has(outOf) ? [{ ...within, from: key, to: outOf }] : []),
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
