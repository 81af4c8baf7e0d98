/** Search in the loaded graph, for results at once while typing. */

import type { SearchResult } from '../api/types'
import type { GraphNode, LineageGraph } from './graph'
import { type Label, labelText } from './labels'
import { nodeLabel } from './nodeLabels'
import { byText } from './order'

export interface Hit extends SearchResult {
  readonly label: Label
}

/** Nodes whose label or full name contains every word of the query, best first. */
export function searchGraph(graph: LineageGraph, query: string, limit: number): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return [...graph.nodes.values()]
    .map((node) => ({ hit: hitOf(node), rank: rank(node, words) }))
    .filter(({ rank }) => rank < NO_MATCH)
    .sort((a, b) => a.rank - b.rank || byLabel(a, b))
    .slice(0, limit)
    .map(({ hit }) => hit)
}

/** The query for the service: words joined by its wildcard `%`, or a node id as it is. */
export function textForService(query: string): string {
  const text = query.trim()
  return /^(job|dataset):/i.test(text) ? text : text.replaceAll(/\s+/g, '%')
}

/** The hits, followed by the service's results that are not among them. */
export function addFound(hits: readonly Hit[], found: readonly SearchResult[]): Hit[] {
  const known = new Set(hits.map(({ nodeId }) => nodeId))
  const news = found.filter(({ nodeId }) => !known.has(nodeId))
  return [...hits, ...news.map((result) => ({ ...result, label: { path: '', name: result.name } }))]
}

const NO_MATCH = 4
const byLabel = byText(({ hit }: { readonly hit: Hit }) => labelText(hit.label))

function rank(node: GraphNode, words: readonly string[]): number {
  const { path, name } = nodeLabel(node)
  const [short, label, full] = [name, path + name, hitOf(node).name].map((text) => text.toLowerCase())
  if (words.every((word) => short === word || label === word)) return 0
  if (words.every((word) => short?.startsWith(word) || label?.startsWith(word))) return 1
  if (words.every((word) => label?.includes(word))) return 2
  if (words.every((word) => full?.includes(word))) return 3
  return NO_MATCH
}

function hitOf(node: GraphNode): Hit {
  const { namespace, name } = node.kind === 'job' ? node.job : node.dataset
  const type = node.kind === 'job' ? 'JOB' : 'DATASET'
  return { nodeId: node.id, namespace, name, type, label: nodeLabel(node) }
}
