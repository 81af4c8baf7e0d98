/** The impact of a change, by dataset and job: the service lists columns, datasets and jobs one by one. */

import type { Owner, Reached } from '../api/answers'
import { datasetId, jobId, type NodeId } from './ids'

/** A dataset with its columns that are reached, or a job. */
export interface ReachedNode {
  readonly node: NodeId
  readonly name: string
  readonly isJob: boolean
  readonly columns: readonly string[]
  readonly owners: readonly Owner[]
  /** Null if unknown; undefined if no change was proposed. */
  readonly breaking: boolean | null | undefined
  readonly reason: string | undefined
}

/** All nodes at one distance, in steps. */
interface AtDistance {
  readonly distance: number
  readonly nodes: readonly ReachedNode[]
}

/** Nearest first; at each distance datasets come before jobs, in the service's order. */
export function byDistance(reached: readonly Reached[], isProposed: boolean): AtDistance[] {
  const found = new Map<number, Map<NodeId, ReachedNode>>()
  for (const each of reached) {
    const nodes = found.get(each.distance) ?? new Map<NodeId, ReachedNode>()
    found.set(each.distance, nodes)
    const next = nodeOf(each, isProposed)
    nodes.set(next.node, combined(nodes.get(next.node), next))
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([distance, nodes]) => ({
      distance,
      nodes: [...nodes.values()].sort((a, b) => Number(a.isJob) - Number(b.isJob)),
    }))
}

function nodeOf(reached: Reached, isProposed: boolean): ReachedNode {
  const { namespace, name, field } = reached
  const isJob = reached.type === 'JOB'
  return {
    node: isJob ? jobId(namespace, name) : datasetId(namespace, name),
    name,
    isJob,
    columns: field === null ? [] : [field],
    owners: reached.owners,
    breaking: isProposed ? reached.breaking : undefined,
    reason: reached.reason ?? undefined,
  }
}

function combined(known: ReachedNode | undefined, more: ReachedNode): ReachedNode {
  if (!known) return more
  return {
    ...known,
    columns: [...known.columns, ...more.columns],
    owners: known.owners.length > 0 ? known.owners : more.owners,
    breaking: worse(known.breaking, more.breaking),
    reason: known.reason ?? more.reason,
  }
}

function worse(a: ReachedNode['breaking'], b: ReachedNode['breaking']): ReachedNode['breaking'] {
  if (a === true || b === true) return true
  return a === null || b === null ? null : a
}
