/** Describes in words where a column comes from and what it reaches. */

import type { Transformation } from '../api/types'
import { type ColumnEdge, type ColumnGraph, MAX_DATASETWISE } from './columns'
import { formatCount } from './format'
import type { ColumnKey, NodeId } from './ids'
import type { ColumnReach } from './walk'

/** Some columns of one dataset, or all. */
export interface ColumnsOf {
  readonly dataset: NodeId
  readonly columns: readonly string[] | 'all'
}

/** "aggregated from" with the columns it was aggregated from. */
export interface Phrase {
  readonly verb: string
  readonly direct: boolean
  readonly columns: readonly ColumnsOf[]
  /** A clause to add if the edge is one of all columns of the dataset, not of this column alone. */
  readonly ofAll: string | undefined
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
  CONDITIONAL: 'conditional on',
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
  CONDITIONAL: 'is a condition for',
}

/** The sources of `column`, one step upstream: direct phrases first, none if no source is known. */
export function comesFrom(graph: ColumnGraph, column: ColumnKey): Phrase[] {
  const verb = ({ type, subtype }: Transformation) =>
    FROM[subtype ?? ''] ?? (type === 'DIRECT' ? 'derived from' : 'influenced by')
  const wordsOfAll = (columns: readonly ColumnsOf[]) =>
    `which ${isOne(columns) ? 'affects' : 'affect'} every column`
  return phrases(graph, column, {
    edges: 'into',
    farEnd: 'from',
    verb,
    plainVerb: 'derived from',
    wordsOfAll,
  })
}

/** The targets of `column`, one step downstream. */
export function goesInto(graph: ColumnGraph, column: ColumnKey): Phrase[] {
  const verb = ({ type, subtype }: Transformation) =>
    INTO[subtype ?? ''] ?? (type === 'DIRECT' ? 'goes into' : 'influences')
  const wordsOfAll = () => 'as every column does'
  return phrases(graph, column, { edges: 'outOf', farEnd: 'to', verb, plainVerb: 'goes into', wordsOfAll })
}

interface Side {
  readonly edges: 'into' | 'outOf'
  readonly farEnd: 'from' | 'to'
  readonly verb: (transformation: Transformation) => string
  readonly plainVerb: string
  readonly wordsOfAll: (columns: readonly ColumnsOf[]) => string
}

function phrases(graph: ColumnGraph, column: ColumnKey, side: Side): Phrase[] {
  const edgesAt = (key: ColumnKey) => graph[side.edges].get(key) ?? []
  const own = edgesAt(column).filter(({ within }) => !within)
  const ofAll = edgesAt(column).flatMap((edge) => (edge.within ? edgesAt(edge[side.farEnd]) : []))
  return [
    ...phrasesOver(graph, own, side),
    ...phrasesOver(graph, ofAll, side).map((phrase) => ({
      ...phrase,
      ofAll: side.wordsOfAll(phrase.columns),
    })),
  ].sort((a, b) => Number(b.direct) - Number(a.direct))
}

function phrasesOver(
  graph: ColumnGraph,
  edges: readonly ColumnEdge[],
  { farEnd, verb, plainVerb }: Side,
): Phrase[] {
  const found = new Map<string, { direct: boolean; columns: Set<ColumnKey> }>()
  const add = (verb: string, direct: boolean, key: ColumnKey) => {
    const phrase = found.get(verb) ?? { direct, columns: new Set<ColumnKey>() }
    found.set(verb, phrase)
    phrase.columns.add(key)
  }
  for (const edge of edges) {
    if (edge.transformations.length === 0) add(plainVerb, true, edge[farEnd])
    for (const each of edge.transformations) add(verb(each), each.type === 'DIRECT', edge[farEnd])
  }
  return [...found].map(([verb, { direct, columns }]) => ({
    verb,
    direct,
    columns: grouped(graph, columns),
    ofAll: undefined,
  }))
}

function grouped({ columns, wholeDatasets }: ColumnGraph, keys: Iterable<ColumnKey>): ColumnsOf[] {
  const found = new Map<NodeId, string[] | 'all'>()
  for (const key of keys) {
    const [ref, whole] = [columns.get(key), wholeDatasets.get(key)]
    const known = ref && found.get(ref.dataset)
    if (whole) found.set(whole, 'all')
    else if (ref && known === undefined) found.set(ref.dataset, [ref.column])
    else if (ref && known !== 'all') known?.push(ref.column)
  }
  return [...found].map(([dataset, columns]) => ({ dataset, columns }))
}

function isOne(columns: readonly ColumnsOf[]): boolean {
  const [first, ...others] = columns
  return others.length === 0 && first?.columns !== 'all' && first?.columns.length === 1
}

/** The columns that a sentence names; the rest is counted. */
const MAX_NAMED = 12

interface Mentioned {
  readonly columns: readonly ColumnsOf[]
  /** The number of columns that are not named. */
  readonly left: number
}

/** The columns that a sentence names: the first ones; the reach lists all. */
export function mentioned(phrase: Phrase): Mentioned {
  let [room, left] = [MAX_NAMED, 0]
  const columns = phrase.columns.flatMap((each): ColumnsOf[] => {
    const count = each.columns === 'all' ? 1 : each.columns.length
    const taken = isCounted(phrase, each) ? Math.min(room, 1) * count : Math.min(room, count)
    left += count - taken
    room -= Math.min(room, isCounted(phrase, each) ? 1 : taken)
    if (taken === 0) return []
    return [each.columns === 'all' ? each : { ...each, columns: each.columns.slice(0, taken) }]
  })
  return { columns, left }
}

/** Whether the columns are only counted: all of a dataset, or many that are connected by an edge of a whole dataset. */
export function isCounted({ ofAll }: Phrase, { columns }: ColumnsOf): boolean {
  return columns === 'all' || (ofAll !== undefined && columns.length > MAX_DATASETWISE)
}

/** The columns of a reach, dataset by dataset, nearest first. */
interface ReachOf {
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

/** `1 column`, `2,000 columns` */
export function counted(count: number, noun: string, many = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : many}`
}

/** The words of a finding about a node; a name with which they begin is replaced by the node's label. */
export function relabelled(words: string, node: string, label: string): string {
  const end = words.indexOf(': ')
  return end > 0 && node.endsWith(`:${words.slice(0, end)}`) ? label + words.slice(end) : words
}
