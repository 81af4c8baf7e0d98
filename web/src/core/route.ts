/** What the page shows, as the address keeps it: `#node=…&column=…`. */

import type { NodeId } from './ids'

export interface Route {
  readonly node: NodeId | undefined
  /** A column of `node`, whose path is lit. */
  readonly column: string | undefined
}

export const HOME: Route = { node: undefined, column: undefined }

export function parseRoute(hash: string): Route {
  const query = new URLSearchParams(hash.replace(/^#/, ''))
  const node = query.get('node') || undefined
  const column = query.get('column') || undefined
  return node === undefined ? HOME : { node: node as NodeId, column }
}

export function formatRoute({ node, column }: Route): string {
  const query = new URLSearchParams()
  if (node !== undefined) query.set('node', node)
  if (node !== undefined && column !== undefined) query.set('column', column)
  return `#${query}`
}
