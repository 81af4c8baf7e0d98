/** The lit (highlighted) path of a column over the graph of jobs and datasets, or of a whole job or dataset. */

import { type ColumnEdge, type ColumnGraph, MAX_DATASETWISE, MAX_LIT } from './columns'
import type { LineageGraph } from './graph'
import { type ColumnKey, type ColumnRef, columnKey, type NodeId } from './ids'
import { type NodeLit, pathOver } from './path'
import { edgeKey } from './shape'
import { type ColumnPath, type ColumnReach, columnPath, type Strength } from './walk'

export type Glow = 'start' | Strength

/** An end of a segment: a column's row, or (`column` undefined) a job or the head of a dataset's card. */
export interface End {
  readonly node: NodeId
  readonly column: string | undefined
}

export interface Segment {
  readonly from: End
  readonly to: End
  readonly kind: Strength
  /** The strength of the whole path up to the segment's far end: a direct segment may lie beyond an indirect one. */
  readonly strength: Strength
}

export type Lit = ColumnLit | NodeLit

export interface ColumnLit {
  readonly kind: 'column'
  readonly path: ColumnPath
  readonly columns: ReadonlyMap<NodeId, ReadonlyMap<string, Glow>>
  /** Columns without a row, since they are too many; their lines meet at the head of the dataset's card. */
  readonly collapsed: ReadonlyMap<NodeId, ReadonlySet<string>>
  /** Jobs on the path, and piles that hold a part of it. */
  readonly jobs: ReadonlySet<NodeId>
  /** Column to job and job to column; column to column if no job is known between them. */
  readonly segments: readonly Segment[]
}

/** `whole`: the path of the dataset; it selects among several jobs between two datasets. */
export function lightUp(
  graph: LineageGraph,
  columns: ColumnGraph,
  start: ColumnRef,
  withIndirect: boolean,
  whole?: NodeLit,
): ColumnLit {
  const path = columnPath(columns, columnKey(start), withIndirect)
  const collapsed = collapsedOn(columns, path)
  const segments = segmentsOf(columns, path, collapsed, jobsBetween(graph, whole))
  const glows = glowing(columns, path, start)
  const ends = segments.flatMap(({ from, to }) => [from.node, to.node])
  return {
    kind: 'column',
    path,
    columns: glows,
    collapsed,
    jobs: new Set(ends.filter((node) => !glows.has(node))),
    segments,
  }
}

export function isLit(lit: Lit, node: NodeId): boolean {
  return lit.kind === 'node' ? lit.nodes.has(node) : lit.columns.has(node) || lit.jobs.has(node)
}

/** The path with each node replaced by the one that is drawn for it. */
export function litOver(lit: Lit, drawnAs: (node: NodeId) => NodeId): Lit {
  return lit.kind === 'node' ? pathOver(lit, drawnAs) : columnOver(lit, drawnAs)
}

export function columnOver(lit: ColumnLit, drawnAs: (node: NodeId) => NodeId): ColumnLit {
  const isDrawn = (node: NodeId) => drawnAs(node) === node
  const end = (at: End): End => (isDrawn(at.node) ? at : { node: drawnAs(at.node), column: undefined })
  const segments = lit.segments.map((each) => ({ ...each, from: end(each.from), to: end(each.to) }))
  return {
    ...lit,
    columns: new Map([...lit.columns].filter(([node]) => isDrawn(node))),
    jobs: new Set([
      ...[...lit.jobs].map(drawnAs),
      ...[...lit.columns.keys()].filter((node) => !isDrawn(node)).map(drawnAs),
    ]),
    segments: merged(segments.filter(({ from, to }) => from.node !== to.node || from.column !== undefined)),
  }
}

function collapsedOn(
  { columns }: ColumnGraph,
  { start, upstream, downstream }: ColumnPath,
): ColumnLit['collapsed'] {
  const onPath = new Set([...upstream.columns.keys(), ...downstream.columns.keys()])
  onPath.delete(start)
  const isColumnwise = (key: ColumnKey) => upstream.columnwise.has(key) || downstream.columnwise.has(key)
  const isDirect = (key: ColumnKey) =>
    upstream.columns.get(key) === 'direct' || downstream.columns.get(key) === 'direct'
  const columnwise = [...onPath].filter(isColumnwise)
  const inOrder = [...columnwise.filter(isDirect), ...columnwise.filter((key) => !isDirect(key))]
  const datasetwise = byDataset(
    columns,
    [...onPath].filter((key) => !isColumnwise(key)),
  )
  const collapsed = [
    ...[...datasetwise].filter(([, names]) => names.length > MAX_DATASETWISE),
    ...[...byDataset(columns, inOrder)].map(([node, names]) => [node, names.slice(MAX_LIT)] as const),
  ]
  const found = new Map<NodeId, Set<string>>()
  for (const [node, names] of collapsed) {
    if (names.length > 0) found.set(node, new Set([...(found.get(node) ?? []), ...names]))
  }
  return found
}

function byDataset(columns: ColumnGraph['columns'], keys: readonly ColumnKey[]): Map<NodeId, string[]> {
  const found = new Map<NodeId, string[]>()
  for (const key of keys) {
    const ref = columns.get(key)
    const known = ref && found.get(ref.dataset)
    if (known) known.push(ref.column)
    else if (ref) found.set(ref.dataset, [ref.column])
  }
  return found
}

function glowing(
  { columns, wholeDatasets }: ColumnGraph,
  { upstream, downstream }: ColumnPath,
  start: ColumnRef,
): Map<NodeId, Map<string, Glow>> {
  const reached = [...upstream.wholeDatasets.keys(), ...downstream.wholeDatasets.keys()].flatMap(
    (key) => wholeDatasets.get(key) ?? [],
  )
  const byDataset = new Map(reached.map((dataset) => [dataset, new Map<string, Glow>()]))
  const light = ({ dataset, column }: ColumnRef, glow: Glow) => {
    const known = byDataset.get(dataset) ?? new Map<string, Glow>()
    byDataset.set(dataset, known)
    if (!known.has(column) || glow === 'direct') known.set(column, glow)
  }
  for (const [key, strength] of [...upstream.columns, ...downstream.columns]) {
    const ref = columns.get(key)
    if (ref) light(ref, strength)
  }
  byDataset.get(start.dataset)?.delete(start.column)
  light(start, 'start')
  return byDataset
}

type JobsBetween = (from: NodeId, to: NodeId) => readonly NodeId[]

function segmentsOf(
  { columns, wholeDatasets }: ColumnGraph,
  path: ColumnPath,
  collapsed: ColumnLit['collapsed'],
  between: JobsBetween,
): Segment[] {
  const endAt = (key: ColumnKey): End | undefined => {
    const ref = columns.get(key)
    if (ref && !collapsed.get(ref.dataset)?.has(ref.column)) return { node: ref.dataset, column: ref.column }
    const node = ref?.dataset ?? wholeDatasets.get(key)
    return node && { node, column: undefined }
  }
  const found = edgesOf(path).flatMap(({ edge, strength }): Segment[] => {
    const [from, to] = [endAt(edge.from), endAt(edge.to)]
    if (!from || !to) return []
    const kind = edge.direct ? 'direct' : 'indirect'
    const jobs = between(from.node, to.node).map((node) => ({ node, column: undefined }))
    if (jobs.length === 0) return [{ from, to, kind, strength }]
    return jobs.flatMap((job) => [
      { from, to: job, kind, strength },
      { from: job, to, kind, strength },
    ])
  })
  return merged(found)
}

/** One segment per pair of ends, with the strongest kind and strength. */
function merged(segments: readonly Segment[]): Segment[] {
  const found = new Map<string, Segment>()
  for (const { from, to, kind, strength } of segments) {
    const key = JSON.stringify([from.node, from.column, to.node, to.column])
    const known = found.get(key)
    found.set(key, {
      from,
      to,
      kind: stronger(kind, known?.kind),
      strength: stronger(strength, known?.strength),
    })
  }
  return [...found.values()]
}

/** Each edge with the strength of the path up to its far end. */
function edgesOf({ start, upstream, downstream }: ColumnPath): { edge: ColumnEdge; strength: Strength }[] {
  const far = ({ columns, wholeDatasets }: ColumnReach, key: ColumnKey) =>
    key === start ? 'direct' : (columns.get(key) ?? wholeDatasets.get(key) ?? 'indirect')
  const weaker = (edge: ColumnEdge, strength: Strength) => (edge.direct ? strength : 'indirect')
  return [
    ...upstream.edges.map((edge) => ({ edge, strength: weaker(edge, far(upstream, edge.from)) })),
    ...downstream.edges.map((edge) => ({ edge, strength: weaker(edge, far(downstream, edge.to)) })),
  ]
}

function stronger(one: Strength, other: Strength | undefined): Strength {
  return one === 'direct' || other === 'direct' ? 'direct' : 'indirect'
}

/** The jobs that read one dataset and write the other: those on the path, or all if none is. */
function jobsBetween({ sources, targets }: LineageGraph, path: NodeLit | undefined): JobsBetween {
  const onPath = new Set(path?.edges.map(edgeKey))
  const isOnPath = (origin: NodeId, destination: NodeId) => onPath.has(edgeKey({ origin, destination }))
  return (from, to) => {
    const writers = new Set(sources.get(to))
    const all = (targets.get(from) ?? []).filter((reader) => writers.has(reader))
    const chosen = all.filter((job) => isOnPath(from, job) && isOnPath(job, to))
    return chosen.length > 0 ? chosen : all
  }
}
