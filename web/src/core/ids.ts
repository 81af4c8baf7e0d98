/**
 * Identities. A node's id comes from the service and is never taken apart to ask for anything:
 * `dataset:a:b:c` does not tell where the namespace ends.
 */

import type { Named } from '../api/types'

declare const brand: unique symbol
type Branded<Name> = string & { readonly [brand]: Name }

/** A job or dataset, for example `job:default:enrich-flights`. */
export type NodeId = Branded<'NodeId'>

/** A column of a dataset, or all columns of one as an end of edges. */
export type ColumnKey = Branded<'ColumnKey'>

export type RunId = Branded<'RunId'>

export interface ColumnRef {
  readonly dataset: NodeId
  readonly column: string
}

/** The id by which the service knows a dataset. */
export function datasetId(namespace: string, name: string): NodeId {
  return `dataset:${namespace}:${name}` as NodeId
}

/** The id by which the service knows a job. */
export function jobId(namespace: string, name: string): NodeId {
  return `job:${namespace}:${name}` as NodeId
}

/**
 * What an id names, to be shown to people: in the namespace, where it begins with that; else most likely in what stands
 * before the last colon, for few names hold one.
 */
export function likelyNamed(id: NodeId, namespace?: string): Named {
  const begin = id.indexOf(':') + 1
  const isThere = namespace !== undefined && id.startsWith(`${namespace}:`, begin)
  const end = isThere ? begin + namespace.length : id.lastIndexOf(':')
  return { namespace: id.slice(begin, end), name: id.slice(end + 1) }
}

/** Whether the id is a job's. */
export function isJobId(id: NodeId): boolean {
  return id.startsWith('job:')
}

/** All columns of a dataset, as where edges end that go into each, or start that come from each. */
export function wholeKey(dataset: NodeId, end: 'into' | 'outOf'): ColumnKey {
  return JSON.stringify([dataset, null, end]) as ColumnKey
}

/** One key per column, whatever characters the names hold. */
export function columnKey({ dataset, column }: ColumnRef): ColumnKey {
  return JSON.stringify([dataset, column]) as ColumnKey
}
