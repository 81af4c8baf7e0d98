import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/api/answers'
import { changeText } from '../../src/core/changes'
import { EMPTY_GRAPH, type LineageGraph } from '../../src/core/graph'
import type { NodeId } from '../../src/core/ids'

const ORDERS = 'dataset:s3://lake:9000:orders' as NodeId
const GRAPH = {
  ...EMPTY_GRAPH,
  nodes: new Map([
    [
      ORDERS,
      {
        kind: 'dataset',
        id: ORDERS,
        dataset: { namespace: 's3://lake:9000', name: 'orders', fields: [], symlinks: [] },
      },
    ],
  ]),
} as unknown as LineageGraph

function words(change: Partial<Change>): string {
  const none = { nodeId: null, origin: null, destination: null, facet: null, before: null, after: null }
  return changeText(GRAPH, { ...none, change: 'changed', event: null, kind: 'job', ...change })
}

describe('a change', () => {
  test.each<[string, Partial<Change>]>([
    ['job etl:load', { nodeId: 'job:etl:load' }],
    ['sql of etl:load', { kind: 'jobFacet', nodeId: 'job:etl:load', facet: 'sql' }],
    ['ownership of orders', { kind: 'datasetFacet', nodeId: ORDERS, facet: 'ownership' }],
    ['tag orders, GOLD', { kind: 'tag', nodeId: ORDERS, before: 'GOLD', change: 'went' }],
    ['parent of the run', { kind: 'runFacet', facet: 'parent' }],
    ['schema of orders', { kind: 'schema', nodeId: ORDERS }],
    ['etl:load → orders', { kind: 'edge', origin: 'job:etl:load', destination: ORDERS }],
    [
      'column price of orders, int → long',
      { kind: 'column', nodeId: 'datasetField:s3://lake:9000:orders:price', before: 'int', after: 'long' },
    ],
    [
      'column a:b of orders, long',
      { kind: 'column', nodeId: 'datasetField:s3://lake:9000:orders:a:b', after: 'long' },
    ],
    ['column x:gone:price', { kind: 'column', nodeId: 'datasetField:x:gone:price' }],
    [
      'column price of orders → x:sums:price, identity → aggregation, filter',
      {
        kind: 'columnEdge',
        origin: 'datasetField:s3://lake:9000:orders:price',
        destination: 'datasetField:x:sums:price',
        before: [{ type: 'DIRECT', subtype: 'IDENTITY' }],
        after: [
          { type: 'DIRECT', subtype: 'AGGREGATION' },
          { type: 'INDIRECT', subtype: 'FILTER' },
        ],
      },
    ],
    [
      'column price of orders → x:sums:price, identity → transformation, masked',
      {
        kind: 'columnEdge',
        origin: 'datasetField:s3://lake:9000:orders:price',
        destination: 'datasetField:x:sums:price',
        before: [{ type: 'DIRECT', subtype: 'IDENTITY', masking: false }],
        after: [{ type: 'DIRECT', subtype: 'TRANSFORMATION', masking: true }],
      },
    ],
    [
      'dataset orders, also called hive:orders',
      { kind: 'dataset', nodeId: ORDERS, before: [ORDERS], after: [ORDERS, 'dataset:hive:orders'] },
    ],
    [
      'dataset orders, was called lake:stg_orders; also called hive:orders',
      {
        kind: 'dataset',
        nodeId: ORDERS,
        before: ['dataset:lake:stg_orders'],
        after: [ORDERS, 'dataset:hive:orders', 'dataset:lake:stg_orders'],
      },
    ],
    [
      'dataset orders, no longer called hive:orders',
      { kind: 'dataset', nodeId: ORDERS, before: [ORDERS, 'dataset:hive:orders'], after: [ORDERS] },
    ],
  ])('reads as “%s”', (said, change) => {
    expect(words(change)).toBe(said)
  })
})
