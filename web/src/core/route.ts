/** What the page shows, as the address keeps it: `#node=…&column=…`, `#view=record&machine=…`, `#view=drift`, `#view=failures`. */

import type { NodeId } from './ids'

/** The graph, and what is chosen in it. */
export interface GraphRoute {
  readonly view: 'graph'
  readonly node: NodeId | undefined
  /** A column of `node`, whose path is lit. */
  readonly column: string | undefined
}

/** The log and the record of each machine, and the machine that is looked at closely. */
export interface RecordRoute {
  readonly view: 'record'
  readonly machine: string | undefined
}

/** Schemas that changed. */
export interface DriftRoute {
  readonly view: 'drift'
}

/** Jobs that failed. */
export interface FailuresRoute {
  readonly view: 'failures'
}

export type Route = GraphRoute | RecordRoute | DriftRoute | FailuresRoute
export type View = Route['view']

export const HOME: GraphRoute = { view: 'graph', node: undefined, column: undefined }
export const RECORD: RecordRoute = { view: 'record', machine: undefined }
export const DRIFT: DriftRoute = { view: 'drift' }
export const FAILURES: FailuresRoute = { view: 'failures' }

export function parseRoute(hash: string): Route {
  const query = new URLSearchParams(hash.replace(/^#/, ''))
  switch (query.get('view')) {
    case 'record':
      return { view: 'record', machine: query.get('machine') || undefined }
    case 'drift':
      return DRIFT
    case 'failures':
      return FAILURES
    default:
      return graphRoute(query)
  }
}

function graphRoute(query: URLSearchParams): GraphRoute {
  const node = query.get('node') || undefined
  const column = query.get('column') || undefined
  return node === undefined ? HOME : { view: 'graph', node: node as NodeId, column }
}

export function formatRoute(route: Route): string {
  return `#${new URLSearchParams(parameters(route))}`
}

function parameters(route: Route): Record<string, string> {
  if (route.view !== 'graph') {
    const { view } = route
    return route.view === 'record' && route.machine !== undefined
      ? { view, machine: route.machine }
      : { view }
  }
  const { node, column } = route
  if (node === undefined) return {}
  return column === undefined ? { node } : { node, column }
}
