/** Short names of jobs and datasets for display; the panel and the tooltip have the full name. */

import type { Neighbour } from '../api/types'
import { isJobId, type Named } from './ids'

/** `{ path: 'lake.marts.', name: 'carrier_delays' }`; joined they are the label. */
export interface Label {
  readonly path: string
  readonly name: string
}

/** The characters of a job's name that a card has room for, without the path before the name. */
const JOB_ROOM = 15
/** The same for a narrow card. */
export const NARROW_ROOM = 11

/** The most qualified table name among the dataset's names; if there is none, the last two segments of its own. */
export function datasetLabel(dataset: Named & Pick<Neighbour, 'symlinks'>): Label {
  const [best] = [dataset, ...(dataset.symlinks ?? [])].sort(
    (one, other) => qualified(other) - qualified(one),
  )
  return splitName((best ?? dataset).name)
}

/** The number of parts of a table's name; 0 for a path, which has slashes. */
function qualified({ name }: Named): number {
  return name.includes('/') ? 0 : name.split('.').length
}

/** As many of the last segments as a card has room for: the names of a pipeline's tasks begin alike. */
export function jobLabel({ name }: Named): Label {
  if (name.length <= JOB_ROOM) return { path: '', name }
  const cuts = [...name.matchAll(/[./](?=.)/g)].map(({ index }) => index + 1)
  const cut = cuts.find((place) => name.length - place <= JOB_ROOM) ?? cuts.at(-1) ?? 0
  return { path: name.slice(0, cut), name: name.slice(cut) }
}

export function labelText({ path, name }: Label): string {
  return path + name
}

/** The label of a node that the graph may not hold. */
export function neighbourLabel(neighbour: Neighbour): Label {
  return isJobId(neighbour.nodeId) ? jobLabel(neighbour) : datasetLabel(neighbour)
}

/** A name split after each of its separators: `['batch_', 'orders.', 'daily']`. */
export function nameParts(name: string): string[] {
  return name.split(/(?<=[./_:-])(?=[^./_:-])/)
}

export function splitName(name: string): Label {
  const segments = name.split('/').filter(Boolean)
  const last = segments.at(-1)
  if (last === undefined) return { path: '', name }
  if (name.includes('/')) {
    const parent = segments.at(-2)
    return { path: parent === undefined ? '' : `${parent}/`, name: last }
  }
  const dot = name.lastIndexOf('.') + 1
  return dot < name.length ? { path: name.slice(0, dot), name: name.slice(dot) } : { path: '', name }
}
