/** Short names for people; the full name stays in the panel and the tooltip. */

import type { Named, Neighbour } from '../api/types'
import type { GraphNode, LineageGraph } from './graph'
import { isJobId, type NodeId } from './ids'
import { isolated } from './isolated'
import type { DrawnNode, Pile } from './piles'
import { counted } from './wording'

/** `{ path: 'lake.marts.', name: 'carrier_delays' }`; joined they are the label. */
export interface Label {
  readonly path: string
  readonly name: string
}

/** How many characters of a job's name a card shows, of its end behind what stands before that. */
const JOB_ROOM = 15
/** How many a narrow card shows. */
export const NARROW_ROOM = 11

/** A table's name where the dataset goes by one, the most qualified; else the last two segments of its own. */
export function datasetLabel(dataset: Named & Pick<Neighbour, 'symlinks'>): Label {
  const [best] = [dataset, ...(dataset.symlinks ?? [])].sort(
    (one, other) => qualified(other) - qualified(one),
  )
  return splitName((best ?? dataset).name)
}

/** Of how many parts a table's name is made; what has slashes is the name of a place. */
function qualified({ name }: Named): number {
  return name.includes('/') ? 0 : name.split('.').length
}

/** As many of the last segments as a card has room for: tasks of one pipeline begin alike. */
export function jobLabel({ name }: Named): Label {
  if (name.length <= JOB_ROOM) return { path: '', name }
  const cuts = [...name.matchAll(/[./](?=.)/g)].map(({ index }) => index + 1)
  const cut = cuts.find((place) => name.length - place <= JOB_ROOM) ?? cuts.at(-1) ?? 0
  return { path: name.slice(0, cut), name: name.slice(cut) }
}

export function nodeLabel(node: GraphNode): Label {
  return node.kind === 'job' ? jobLabel(node.job) : datasetLabel(node.dataset)
}

/** The label; of those that would have the same one, namespace and whole name. */
export function labelApart(node: DrawnNode): Label {
  if (node.kind === 'pile') return { path: '', name: counted(node.neighbours, `more ${node.of}`) }
  if (!node.hasTwin) return nodeLabel(node)
  const { namespace, name } = namedBy(node)
  const full = `${namespace} ${name}`
  const end = full.lastIndexOf((node.kind === 'job' ? jobLabel(node.job) : splitName(node.dataset.name)).name)
  return { path: full.slice(0, end), name: full.slice(end) }
}

export function labelText({ path, name }: Label): string {
  return path + name
}

/** The label of what the graph may not hold, by its names. */
export function neighbourLabel(neighbour: Neighbour): Label {
  return isJobId(neighbour.nodeId) ? jobLabel(neighbour) : datasetLabel(neighbour)
}

/** The label of a node, to stand within a line; of one that the graph does not hold, what its id says of its name. */
export function labelOf(graph: LineageGraph, id: NodeId): string {
  const node = graph.nodes.get(id)
  return isolated(node ? labelText(labelApart(node)) : id.slice(id.indexOf(':') + 1))
}

/** A name cut behind each of its separators: `['batch_', 'orders.', 'daily']`. */
export function nameParts(name: string): string[] {
  return name.split(/(?<=[./_:-])(?=[^./_:-])/)
}

export function fullName(node: DrawnNode): string {
  if (node.kind === 'pile') return pileWords(node)
  const { namespace, name } = namedBy(node)
  return `${isolated(namespace)} ${isolated(name)}`
}

function namedBy(node: GraphNode): Named {
  return node.kind === 'job' ? node.job : node.dataset
}

function pileWords({ neighbours, of, nodes }: Pile): string {
  const beyond = nodes - neighbours
  const first = `${counted(neighbours, of)} not drawn`
  return beyond > 0 ? `${first}, and ${counted(beyond, 'node')} that only they lead to` : first
}

function splitName(name: string): Label {
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
