/** What the page shows, as in the address: `#node=…&column=…&asked=changes&since=…&change=drop`, `#view=record&machine=…`, `#view=entry&index=…`, `#view=drift`, `#view=failures`, `#view=catalog&kind=datasets&namespace=…&state=FAILED`. */

import type { RunState } from '../api/types'
import type { NodeId } from './ids'

/** The questions about a node: why it may be wrong, what changed, what depends on it, how its sources can be proved. */
export const QUESTIONS = ['why', 'changes', 'impact', 'proof'] as const
export type Question = (typeof QUESTIONS)[number]

/** The graph, with the reader's choices. */
export interface GraphRoute {
  readonly view: 'graph'
  readonly node: NodeId | undefined
  /** A column of `node`, whose path is lit. */
  readonly column: string | undefined
  /** The open questions. */
  readonly asked: readonly Question[]
  /** The start of the period in `changes`, if the reader chose it. */
  readonly since: string | undefined
  /** Whether `impact` also shows what breaks if the node or column is dropped. */
  readonly isDrop: boolean
}

/** The log, the records of all machines, and the machine whose details are open. */
interface RecordRoute {
  readonly view: 'record'
  readonly machine: string | undefined
}

/** One entry of the log, by its index. */
interface EntryRoute {
  readonly view: 'entry'
  readonly index: number
}

/** Schema changes. */
interface DriftRoute {
  readonly view: 'drift'
}

/** Failed jobs and silent runs. */
interface FailuresRoute {
  readonly view: 'failures'
}

/** What the catalog lists. */
export const KINDS = ['jobs', 'datasets'] as const
export type Kind = (typeof KINDS)[number]

/** The states of a last run that the catalog's jobs can be chosen by. */
export const LAST_STATES = ['RUNNING', 'COMPLETED', 'FAILED', 'ABORTED'] as const satisfies RunState[]
type LastState = (typeof LAST_STATES)[number]

/** All jobs or datasets, or those of one namespace; of the jobs, perhaps only those whose last run is in one state. */
export interface CatalogRoute {
  readonly view: 'catalog'
  readonly kind: Kind
  readonly namespace: string | undefined
  readonly state: LastState | undefined
}

export type Route = GraphRoute | RecordRoute | EntryRoute | DriftRoute | FailuresRoute | CatalogRoute
export type View = Route['view']

export const HOME: GraphRoute = {
  view: 'graph',
  node: undefined,
  column: undefined,
  asked: [],
  since: undefined,
  isDrop: false,
}
export const RECORD: RecordRoute = { view: 'record', machine: undefined }
export const DRIFT: DriftRoute = { view: 'drift' }
export const FAILURES: FailuresRoute = { view: 'failures' }
export const CATALOG: CatalogRoute = { view: 'catalog', kind: 'jobs', namespace: undefined, state: undefined }

/** The route to a node, or a column of it, with no question open. */
export function routeTo(node: NodeId, column?: string): GraphRoute {
  return { ...HOME, node, column }
}

/** The route with a question opened or closed. */
export function withAsked(route: GraphRoute, question: Question, isOpen: boolean): GraphRoute {
  const asked = QUESTIONS.filter((one) => (one === question ? isOpen : route.asked.includes(one)))
  return { ...route, asked }
}

/** Whether the side panel is open. */
export function hasPanel(route: Route): boolean {
  return (
    (route.view === 'graph' && route.node !== undefined) ||
    (route.view === 'record' && route.machine !== undefined)
  )
}

export function parseRoute(hash: string): Route {
  const query = new URLSearchParams(hash.replace(/^#/, ''))
  switch (query.get('view')) {
    case 'record':
      return { view: 'record', machine: query.get('machine') || undefined }
    case 'entry':
      return entryRoute(query.get('index') ?? '')
    case 'drift':
      return DRIFT
    case 'failures':
      return FAILURES
    case 'catalog':
      return catalogRoute(query)
    default:
      return graphRoute(query)
  }
}

/** The record if the index is not a number. */
function entryRoute(index: string): Route {
  return /^\d{1,15}$/.test(index) ? { view: 'entry', index: Number(index) } : RECORD
}

/** An unknown kind or state is ignored, as is a state of datasets. */
function catalogRoute(query: URLSearchParams): CatalogRoute {
  const kind = KINDS.find((one) => one === query.get('kind')) ?? CATALOG.kind
  const state = LAST_STATES.find((one) => one === query.get('state') && kind === 'jobs')
  return { view: 'catalog', kind, namespace: query.get('namespace') || undefined, state }
}

function graphRoute(query: URLSearchParams): GraphRoute {
  const node = query.get('node') || undefined
  const column = query.get('column') || undefined
  if (node === undefined) return HOME
  const asked = query.get('asked')?.split(',') ?? []
  const since = query.get('since') ?? ''
  return {
    ...routeTo(node as NodeId, column),
    asked: QUESTIONS.filter((one) => asked.includes(one)),
    since: Number.isNaN(Date.parse(since)) ? undefined : new Date(since).toISOString(),
    isDrop: query.get('change') === 'drop',
  }
}

export function formatRoute(route: Route): string {
  return `#${new URLSearchParams(parameters(route))}`
}

function parameters(route: Route): Record<string, string> {
  switch (route.view) {
    case 'graph':
      return ofGraph(route)
    case 'record':
      return { view: route.view, ...(route.machine !== undefined && { machine: route.machine }) }
    case 'entry':
      return { view: route.view, index: String(route.index) }
    case 'catalog':
      return ofCatalog(route)
    default:
      return { view: route.view }
  }
}

function ofCatalog({ view, kind, namespace, state }: CatalogRoute): Record<string, string> {
  return {
    view,
    ...(kind !== CATALOG.kind && { kind }),
    ...(namespace !== undefined && { namespace }),
    ...(state !== undefined && { state }),
  }
}

function ofGraph({ node, column, asked, since, isDrop }: GraphRoute): Record<string, string> {
  if (node === undefined) return {}
  return {
    node,
    ...(column !== undefined && { column }),
    ...(asked.length > 0 && { asked: asked.join(',') }),
    ...(since !== undefined && { since }),
    ...(isDrop && { change: 'drop' }),
  }
}
