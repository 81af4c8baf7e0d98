/** The graph of columns: which column goes into which, and how. */

import type { InputField, Transformation, WireColumn } from '../api/types'
import { type ColumnKey, type ColumnRef, columnKey, datasetId } from './ids'

export interface ColumnEdge {
  readonly from: ColumnKey
  readonly to: ColumnKey
  /** False if the source only steers the target: a filter, a join key, an order. */
  readonly direct: boolean
  readonly transformations: readonly Transformation[]
}

export interface ColumnGraph {
  readonly columns: ReadonlyMap<ColumnKey, ColumnRef>
  /** Edges by the column they end at. */
  readonly into: ReadonlyMap<ColumnKey, readonly ColumnEdge[]>
  /** Edges by the column they start from. */
  readonly outOf: ReadonlyMap<ColumnKey, readonly ColumnEdge[]>
}

export function columnGraph(answer: readonly WireColumn[]): ColumnGraph {
  const columns = new Map<ColumnKey, ColumnRef>()
  const into = new Map<ColumnKey, ColumnEdge[]>()
  const outOf = new Map<ColumnKey, ColumnEdge[]>()
  const keyOf = (namespace: string, dataset: string, column: string): ColumnKey => {
    const ref = { dataset: datasetId(namespace, dataset), column }
    const key = columnKey(ref)
    columns.set(key, ref)
    return key
  }
  for (const { data } of answer) {
    const to = keyOf(data.namespace, data.dataset, data.field)
    for (const input of data.inputFields) {
      const edge = edgeOf(keyOf(input.namespace, input.dataset, input.field), to, input)
      push(into, to, edge)
      push(outOf, edge.from, edge)
    }
  }
  return { columns, into, outOf }
}

function edgeOf(from: ColumnKey, to: ColumnKey, { transformations = [] }: InputField): ColumnEdge {
  const direct = transformations.length === 0 || transformations.some(({ type }) => type === 'DIRECT')
  return { from, to, direct, transformations }
}

function push(edges: Map<ColumnKey, ColumnEdge[]>, key: ColumnKey, edge: ColumnEdge): void {
  const known = edges.get(key)
  if (known) known.push(edge)
  else edges.set(key, [edge])
}
