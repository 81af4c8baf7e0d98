/** Marquez's lineage answer leaves out the facets of datasets, and with them their friendly names. */

import type { LineageGraph } from '../core/graph'
import { datasetId, type NodeId } from '../core/ids'
import type { Client } from './client'
import type { Dataset, Facets, WireNode } from './types'

/** Above this many datasets of one namespace, one listing is cheaper than asking for each. */
const ONE_BY_ONE = 8
const LISTED = 1_000

/** Gives every dataset its facets: from the answer itself, from `known` unless it has `changed`, else from the service. */
export async function withFacets(
  client: Client,
  answer: readonly WireNode[],
  known: LineageGraph,
  changed: ReadonlySet<NodeId>,
): Promise<WireNode[]> {
  const facets = new Map<NodeId, Facets>()
  const missing = new Map<string, Dataset[]>()
  for (const node of answer) {
    if (node.type === 'JOB' || node.data.facets) continue
    const old = known.nodes.get(node.id)
    if (old?.kind === 'dataset' && old.dataset.facets && !changed.has(node.id)) {
      facets.set(node.id, old.dataset.facets)
    } else {
      missing.set(node.data.namespace, [...(missing.get(node.data.namespace) ?? []), node.data])
    }
  }
  const asked = await Promise.all(
    [...missing].map(([namespace, datasets]) => ask(client, namespace, datasets)),
  )
  for (const dataset of asked.flat())
    facets.set(datasetId(dataset.namespace, dataset.name), dataset.facets ?? {})
  return answer.map((node) => withOwn(node, facets))
}

/** A name that cannot be had is no reason to show no graph. */
async function ask(
  client: Client,
  namespace: string,
  datasets: readonly Dataset[],
): Promise<readonly Dataset[]> {
  if (datasets.length > ONE_BY_ONE) return client.datasets(namespace, LISTED).catch(() => [])
  const answers = await Promise.allSettled(datasets.map((dataset) => client.dataset(dataset)))
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}

function withOwn(node: WireNode, facets: ReadonlyMap<NodeId, Facets>): WireNode {
  const own = facets.get(node.id)
  return node.type === 'JOB' || !own ? node : { ...node, data: { ...node.data, facets: own } }
}
