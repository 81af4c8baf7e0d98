/** Marquez's answers, as recorded in the shared conformance file. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WireNode } from '../../src/api/types'
import { edgesOf } from '../../src/core/flow'
import { EMPTY_GRAPH, merge } from '../../src/core/graph'

const SHARED = process.env.HEADWATER_SHARED ?? join(import.meta.dirname, '../../../../shared')
const FILE = join(SHARED, 'conformance/marquez.jsonl')
if (!existsSync(FILE)) console.warn(`skipped: ${FILE} is missing; set HEADWATER_SHARED to where it is`)

interface Exchange {
  readonly path: string
  readonly status: number
  readonly response: { readonly graph?: readonly WireNode[] }
}

test.skipIf(!existsSync(FILE))(
  'every recorded lineage answer becomes a graph with all its nodes and edges',
  () => {
    const exchanges = readFileSync(FILE, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Exchange)
    const answers = exchanges.filter(
      ({ path, status }) => path.startsWith('/api/v1/lineage?') && status === 200,
    )

    expect(answers.length).toBeGreaterThan(0)
    for (const { response } of answers) {
      const nodes = (response.graph ?? []).map(withOurs)
      const graph = merge(EMPTY_GRAPH, nodes)
      const wire = nodes.flatMap(({ inEdges, outEdges }) => [...inEdges, ...outEdges])
      expect([...graph.nodes.keys()]).toEqual(nodes.map(({ id }) => id))
      expect(new Set(edgesOf(graph).map((edge) => JSON.stringify([edge.origin, edge.destination])))).toEqual(
        new Set(wire.map((edge) => JSON.stringify([edge.origin, edge.destination]))),
      )
    }
  },
)

/** With the members that our service adds. */
function withOurs(node: WireNode): WireNode {
  return node.type === 'DATASET' ? { ...node, data: { ...node.data, symlinks: [] } } : node
}
