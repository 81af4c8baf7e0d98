/** How the graph's nodes and piles are labelled. */

import type { GraphNode, LineageGraph } from './graph'
import type { Named, NodeId } from './ids'
import { isolated } from './isolated'
import { datasetLabel, jobLabel, type Label, labelText, splitName } from './labels'
import type { DrawnNode, Pile } from './piles'
import { counted } from './wording'

export function nodeLabel(node: GraphNode): Label {
  return node.kind === 'job' ? jobLabel(node.job) : datasetLabel(node.dataset)
}

/** The label, or the namespace and full name if another node has the same label. */
export function uniqueLabel(node: DrawnNode): Label {
  if (node.kind === 'pile') return { path: '', name: counted(node.neighbours, `more ${node.of}`) }
  if (!node.hasTwin) return nodeLabel(node)
  const { namespace, name } = namedBy(node)
  const full = `${namespace} ${name}`
  const end = full.lastIndexOf((node.kind === 'job' ? jobLabel(node.job) : splitName(node.dataset.name)).name)
  return { path: full.slice(0, end), name: full.slice(end) }
}

/** A node's label for use within a line; taken from its id if the graph does not hold the node. */
export function labelOf(graph: LineageGraph, id: NodeId): string {
  const node = graph.nodes.get(id)
  return isolated(node ? labelText(uniqueLabel(node)) : id.slice(id.indexOf(':') + 1))
}

export function fullName(node: DrawnNode): string {
  if (node.kind === 'pile') return pileText(node)
  const { namespace, name } = namedBy(node)
  return `${isolated(namespace)} ${isolated(name)}`
}

function namedBy(node: GraphNode): Named {
  return node.kind === 'job' ? node.job : node.dataset
}

function pileText({ neighbours, of, nodes }: Pile): string {
  const beyond = nodes - neighbours
  const first = `${counted(neighbours, of)} not drawn`
  return beyond > 0 ? `${first}, and ${counted(beyond, 'node')} that only they lead to` : first
}
