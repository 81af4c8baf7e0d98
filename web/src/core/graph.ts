/** The graph of jobs and datasets, merged from the service's answers. */

import type { Dataset, Job, WireNode } from '../api/types'
import { type Flow, flowOf } from './flow'
import type { NodeId } from './ids'
import { datasetLabel, jobLabel, labelText } from './labels'

export type GraphNode = (
  | { readonly kind: 'dataset'; readonly id: NodeId; readonly dataset: Dataset }
  | { readonly kind: 'job'; readonly id: NodeId; readonly job: Job }
) & {
  /** Whether another node of its kind has the same label. */
  readonly hasTwin: boolean
}

export interface LineageGraph extends Flow<GraphNode> {
  /** The service's nodes, also with edges whose other end is not in the graph yet: merging needs these. */
  readonly wire: ReadonlyMap<NodeId, WireNode>
}

export const EMPTY_GRAPH: LineageGraph = graphOf(new Map())

/** Adds the nodes of an answer; nodes of `old` that are not in the answer are removed. */
export function merge(
  graph: LineageGraph,
  answer: readonly WireNode[],
  old: Iterable<NodeId> = [],
): LineageGraph {
  const wire = new Map(graph.wire)
  for (const id of old) wire.delete(id)
  for (const node of answer) wire.set(node.id, node)
  return graphOf(wire)
}

export function jobsOf(graph: LineageGraph): Job[] {
  return [...graph.nodes.values()].flatMap((node) => (node.kind === 'job' ? [node.job] : []))
}

function graphOf(wire: ReadonlyMap<NodeId, WireNode>): LineageGraph {
  const twins = twinsAmong(wire.values())
  const nodes = new Map([...wire].map(([id, node]) => [id, graphNode(node, twins.has(id))]))
  const edges = [...wire.values()].flatMap(({ inEdges, outEdges }) => [...inEdges, ...outEdges])
  return { ...flowOf(nodes, edges), wire }
}

function graphNode(node: WireNode, hasTwin: boolean): GraphNode {
  return node.type === 'JOB'
    ? { kind: 'job', id: node.id, job: node.data, hasTwin }
    : { kind: 'dataset', id: node.id, dataset: node.data, hasTwin }
}

function twinsAmong(wire: Iterable<WireNode>): Set<NodeId> {
  const firsts = new Map<string, NodeId>()
  const twins = new Set<NodeId>()
  for (const node of wire) {
    const name = shortName(node)
    const first = firsts.get(name)
    if (first === undefined) firsts.set(name, node.id)
    else twins.add(first).add(node.id)
  }
  return twins
}

function shortName(node: WireNode): string {
  return `${node.type} ${labelText(node.type === 'JOB' ? jobLabel(node.data) : datasetLabel(node.data))}`
}
