/** What a change reaches, place by place: the service tells of columns, datasets and jobs one by one. */

import type { Owner, Reached } from '../api/answers'
import { datasetId, jobId, type NodeId } from './ids'

/** A dataset with those of its columns that are reached, or a job. */
export interface Place {
  readonly node: NodeId
  readonly name: string
  readonly isJob: boolean
  readonly columns: readonly string[]
  readonly owners: readonly Owner[]
  /** Null where events do not tell; undefined where no change was proposed. */
  readonly breaking: boolean | null | undefined
  readonly reason: string | undefined
}

/** All places at one number of steps. */
export interface Ring {
  readonly distance: number
  readonly places: readonly Place[]
}

/** Nearest first; at a distance datasets come before jobs, as the service orders them. */
export function rings(reached: readonly Reached[], isProposed: boolean): Ring[] {
  const found = new Map<number, Map<NodeId, Place>>()
  for (const each of reached) {
    const ring = found.get(each.distance) ?? new Map<NodeId, Place>()
    found.set(each.distance, ring)
    const place = placeOf(each, isProposed)
    ring.set(place.node, both(ring.get(place.node), place))
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([distance, places]) => ({
      distance,
      places: [...places.values()].sort((a, b) => Number(a.isJob) - Number(b.isJob)),
    }))
}

function placeOf(reached: Reached, isProposed: boolean): Place {
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

function both(known: Place | undefined, more: Place): Place {
  if (!known) return more
  return {
    ...known,
    columns: [...known.columns, ...more.columns],
    owners: known.owners.length > 0 ? known.owners : more.owners,
    breaking: worse(known.breaking, more.breaking),
    reason: known.reason ?? more.reason,
  }
}

function worse(a: Place['breaking'], b: Place['breaking']): Place['breaking'] {
  if (a === true || b === true) return true
  return a === null || b === null ? null : a
}
