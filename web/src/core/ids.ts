/**
 * Identities. A node's id comes from the service and is never parsed for a request: in `dataset:a:b:c` the end of the
 * namespace is ambiguous.
 */

declare const brand: unique symbol
type Branded<Name> = string & { readonly [brand]: Name }

/** A job or dataset, for example `job:default:enrich-flights`. */
export type NodeId = Branded<'NodeId'>

/** A column of a dataset, or all columns of a dataset together as an end of edges. */
export type ColumnKey = Branded<'ColumnKey'>

export type RunId = Branded<'RunId'>

/** The name of a job or dataset within its namespace. */
export interface Named {
  readonly namespace: string
  readonly name: string
}

export interface ColumnRef {
  readonly dataset: NodeId
  readonly column: string
}

/** The service's id of a dataset. */
export function datasetId(namespace: string, name: string): NodeId {
  return `dataset:${namespace}:${name}` as NodeId
}

/** The service's id of a job. */
export function jobId(namespace: string, name: string): NodeId {
  return `job:${namespace}:${name}` as NodeId
}

/**
 * The name in an id, for display only: split after `namespace` if the id begins with it, else at the last colon, since few
 * names contain one.
 */
export function likelyNamed(id: NodeId, namespace?: string): Named {
  const begin = id.indexOf(':') + 1
  const isThere = namespace !== undefined && id.startsWith(`${namespace}:`, begin)
  const end = isThere ? begin + namespace.length : id.lastIndexOf(':')
  return { namespace: id.slice(begin, end), name: id.slice(end + 1) }
}

export function isJobId(id: NodeId): boolean {
  return id.startsWith('job:')
}

/** The key of all columns of a dataset together: as the target (`into`) or the source (`outOf`) of edges. */
export function wholeKey(dataset: NodeId, end: 'into' | 'outOf'): ColumnKey {
  return JSON.stringify([dataset, null, end]) as ColumnKey
}

/** Unique per column, whatever characters the names contain. */
export function columnKey({ dataset, column }: ColumnRef): ColumnKey {
  return JSON.stringify([dataset, column]) as ColumnKey
}
