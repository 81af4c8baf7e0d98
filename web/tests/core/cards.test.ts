import { describe, expect, test } from 'vitest'
import type { WireNode } from '../../src/api/types'
import { cardsOf, sizeOf } from '../../src/core/cards'
import { columnGraph } from '../../src/core/columns'
import { EMPTY_GRAPH, merge } from '../../src/core/graph'
import { datasetId, jobId } from '../../src/core/ids'
import { lightUp } from '../../src/core/lit'
import {
  columnAnswer,
  DELAYS,
  datasetNode,
  FLIGHTS,
  GRAPH,
  INGEST,
  jobNode,
  REPORT,
  wideAnswer,
} from '../lakehouse'

const LIT = lightUp(GRAPH, columnGraph(columnAnswer()), { dataset: DELAYS, column: 'avg_arr_delay' }, false)

describe('a card', () => {
  test('of a folded dataset shows no column', () => {
    const cards = cardsOf(GRAPH, { unfolded: new Set(), lit: undefined })

    expect(cards.get(FLIGHTS)).toMatchObject({ rows: [], more: 0, dim: false })
  })

  test('of an unfolded dataset shows all columns, and grows', () => {
    const folded = cardsOf(GRAPH, { unfolded: new Set(), lit: undefined }).get(FLIGHTS)
    const open = cardsOf(GRAPH, { unfolded: new Set([FLIGHTS]), lit: undefined }).get(FLIGHTS)

    expect(open?.rows.map(({ field }) => field.name)).toEqual(['carrier', 'arr_delay', 'tailnum'])
    expect(folded && open && sizeOf(open).height > sizeOf(folded).height).toBe(true)
  })

  test('of a folded dataset shows the lit columns only', () => {
    const cards = cardsOf(GRAPH, { unfolded: new Set(), lit: LIT })

    expect(cards.get(FLIGHTS)?.rows.map(({ field, glow }) => [field.name, glow])).toEqual([
      ['arr_delay', 'direct'],
    ])
  })

  test('of a job is as wide as its name needs, within bounds', () => {
    const widthOf = (name: string) => {
      const wire = { ...jobNode(INGEST), type: 'JOB' as const }
      const graph = merge(EMPTY_GRAPH, [{ ...wire, data: { ...wire.data, name } } as WireNode])
      const card = cardsOf(graph, { unfolded: new Set(), lit: undefined }).get(INGEST)
      return card && sizeOf(card).width
    }

    expect(widthOf('ingest')).toBeLessThan(widthOf('pipeline_0008.task_000458') ?? 0)
    expect(widthOf('pipeline_0008.task_000458')).toBe(widthOf('x'.repeat(500)))
  })

  test('of a node with the same label as another shows the namespace and full name', () => {
    const dataset = (namespace: string, name: string, ...others: string[]) => {
      const id = datasetId(namespace, name)
      const symlinks = others.map((other) => ({ namespace: 'catalog', name: other }))
      const node = { ...datasetNode(FLIGHTS), id }
      return { ...node, data: { ...node.data, namespace, name, symlinks } } as WireNode
    }
    const job = jobNode(INGEST)
    const named = {
      ...job,
      id: jobId('etl', 'orders'),
      data: { ...job.data, namespace: 'etl', name: 'orders' },
    }
    const graph = merge(EMPTY_GRAPH, [
      dataset('kafka://a:9092', 'orders'),
      dataset('kafka://b:9092', 'orders'),
      dataset('s3://one', 'wh/db/t', 'db.t'),
      dataset('s3://two', 'wh/db/t/', 'db.t'),
      dataset('kafka://a:9092', 'payments'),
      named as WireNode,
    ])
    const cards = cardsOf(graph, { unfolded: new Set(), lit: undefined })

    expect([...cards.values()].map(({ label }) => [label.path, label.name])).toEqual([
      ['kafka://a:9092 ', 'orders'],
      ['kafka://b:9092 ', 'orders'],
      ['s3://one wh/db/', 't'],
      ['s3://two wh/db/', 't/'],
      ['', 'payments'],
      ['', 'orders'],
    ])
  })

  test('of an unfolded dataset dims the columns off the path', () => {
    const rows = cardsOf(GRAPH, { unfolded: new Set([FLIGHTS]), lit: LIT }).get(FLIGHTS)?.rows

    expect(rows?.map(({ glow }) => glow)).toEqual(['dim', 'direct', 'dim'])
  })

  test('off the path is dim, also one of a job', () => {
    const cards = cardsOf(GRAPH, { unfolded: new Set(), lit: LIT })

    expect([REPORT, INGEST].map((id) => cards.get(id)?.dim)).toEqual([true, false])
  })

  test('counts the lit columns without a row, and shows them once unfolded', () => {
    const lit = lightUp(GRAPH, columnGraph(wideAnswer(40)), { dataset: DELAYS, column: 'c7' }, true)

    const folded = cardsOf(GRAPH, { unfolded: new Set(), lit }).get(FLIGHTS)
    const open = cardsOf(GRAPH, { unfolded: new Set([FLIGHTS]), lit }).get(FLIGHTS)

    expect(folded).toMatchObject({ rows: [{ field: { name: 'c7' }, glow: 'direct' }], more: 39 })
    expect(open?.rows.filter(({ glow }) => glow === 'indirect')).toHaveLength(39)
    expect(open?.more).toBe(0)
  })

  test('leaves the columns beyond a hundred to the panel, but never a lit one', () => {
    const wide = datasetNode(FLIGHTS)
    const fields = Array.from({ length: 150 }, (_, n) => ({ name: `c${n}`, type: null, description: null }))
    const last = { name: 'arr_delay', type: null, description: null }
    const graph = merge(GRAPH, [
      {
        ...wide,
        type: 'DATASET',
        data: { ...datasetNode(FLIGHTS).data, fields: [...fields, last] },
      } as typeof wide,
    ])

    const card = cardsOf(graph, { unfolded: new Set([FLIGHTS]), lit: LIT }).get(FLIGHTS)

    expect(card?.more).toBe(50)
    expect(card?.rows.at(-1)?.field.name).toBe('arr_delay')
  })
})
