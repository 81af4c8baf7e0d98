/** Says in words where a column comes from and what it reaches. */

import type { Transformation } from '../api/types'
import type { ColumnEdge, ColumnGraph } from './columns'
import type { ColumnKey, NodeId } from './ids'
import type { ColumnReach } from './walk'

/** Some columns of one dataset. */
export interface ColumnsOf {
  readonly dataset: NodeId
  readonly columns: readonly string[]
}

/** "aggregated from" with the columns it was aggregated from. */
export interface Phrase {
  readonly verb: string
  readonly direct: boolean
  readonly columns: readonly ColumnsOf[]
}

/** Source: OpenLineage ColumnLineageDatasetFacet 1-2-0, transformation types and subtypes. */
const FROM: Readonly<Record<string, string>> = {
  IDENTITY: 'copied from',
  TRANSFORMATION: 'computed from',
  AGGREGATION: 'aggregated from',
  FILTER: 'filtered by',
  JOIN: 'joined on',
  GROUP_BY: 'grouped by',
  SORT: 'sorted by',
  WINDOW: 'windowed by',
  CONDITIONAL: 'decided by',
}

const INTO: Readonly<Record<string, string>> = {
  IDENTITY: 'is copied into',
  TRANSFORMATION: 'goes into',
  AGGREGATION: 'is aggregated into',
  FILTER: 'filters',
  JOIN: 'joins',
  GROUP_BY: 'groups',
  SORT: 'sorts',
  WINDOW: 'windows',
  CONDITIONAL: 'decides',
}

/** What makes `column`, one step up: direct phrases first, none if nothing is known. */
export function comesFrom(graph: ColumnGraph, column: ColumnKey): Phrase[] {
  const verb = ({ type, subtype }: Transformation) =>
    FROM[subtype ?? ''] ?? (type === 'DIRECT' ? 'derived from' : 'steered by')
  return phrases(graph, graph.into.get(column) ?? [], (edge) => edge.from, verb, 'derived from')
}

/** What `column` makes, one step down. */
export function goesInto(graph: ColumnGraph, column: ColumnKey): Phrase[] {
  const verb = ({ type, subtype }: Transformation) =>
    INTO[subtype ?? ''] ?? (type === 'DIRECT' ? 'goes into' : 'steers')
  return phrases(graph, graph.outOf.get(column) ?? [], (edge) => edge.to, verb, 'goes into')
}

function phrases(
  graph: ColumnGraph,
  edges: readonly ColumnEdge[],
  farEnd: (edge: ColumnEdge) => ColumnKey,
  verbOf: (transformation: Transformation) => string,
  plainVerb: string,
): Phrase[] {
  const found = new Map<string, { direct: boolean; columns: Set<ColumnKey> }>()
  const say = (verb: string, direct: boolean, key: ColumnKey) => {
    const phrase = found.get(verb) ?? { direct, columns: new Set<ColumnKey>() }
    found.set(verb, phrase)
    phrase.columns.add(key)
  }
  for (const edge of edges) {
    if (edge.transformations.length === 0) say(plainVerb, true, farEnd(edge))
    for (const each of edge.transformations) say(verbOf(each), each.type === 'DIRECT', farEnd(edge))
  }
  return [...found]
    .map(([verb, { direct, columns }]) => ({ verb, direct, columns: grouped(graph, columns) }))
    .sort((a, b) => Number(b.direct) - Number(a.direct))
}

function grouped(graph: ColumnGraph, keys: Iterable<ColumnKey>): ColumnsOf[] {
  const found = new Map<NodeId, string[]>()
  for (const key of keys) {
    const ref = graph.columns.get(key)
    if (ref) found.set(ref.dataset, [...(found.get(ref.dataset) ?? []), ref.column])
  }
  return [...found].map(([dataset, columns]) => ({ dataset, columns }))
}

/** The columns of a reach, dataset by dataset, nearest first. */
export interface ReachOf {
  readonly dataset: NodeId
  readonly direct: readonly string[]
  readonly indirect: readonly string[]
}

export function byDataset(graph: ColumnGraph, { columns }: ColumnReach): ReachOf[] {
  const found = new Map<NodeId, { direct: string[]; indirect: string[] }>()
  for (const [key, strength] of columns) {
    const ref = graph.columns.get(key)
    if (!ref) continue
    const reach = found.get(ref.dataset) ?? { direct: [], indirect: [] }
    found.set(ref.dataset, reach)
    reach[strength].push(ref.column)
  }
  return [...found].map(([dataset, reach]) => ({ dataset, ...reach }))
}

/** `1 column`, `2 columns` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
