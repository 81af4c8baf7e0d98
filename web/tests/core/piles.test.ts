import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columnGraph } from '../../src/core/columns'
import { edgesOf } from '../../src/core/flow'
import { EMPTY_GRAPH, type LineageGraph, merge } from '../../src/core/graph'
import { datasetId, jobId, type NodeId } from '../../src/core/ids'
import { columnOver, lightUp } from '../../src/core/lit'
import { type Pile, piled } from '../../src/core/piles'
import { datasetNode, type JobPlan, jobNode, run } from '../lakehouse'

const HUB = datasetId('file', '/hub')
const LOOK = { open: undefined, lit: undefined, shownByPile: new Map() }

const job = (n: number) => jobId('demo', `job-${String(n).padStart(4, '0')}`)
const dataset = (n: number) => datasetId('file', `/d/${n}`)

/** Every job reads the hub and writes a dataset of its own. */
function hubOf(readers: number, failing: readonly number[] = []): Record<NodeId, JobPlan> {
  return Object.fromEntries(
    Array.from({ length: readers }, (_, n) => [
      job(n),
      { reads: [HUB], writes: [dataset(n)], runs: [run(failing.includes(n) ? 'FAILED' : 'COMPLETED')] },
    ]),
  )
}

function graphOf(jobs: Readonly<Record<NodeId, JobPlan>>): LineageGraph {
  const ids = Object.keys(jobs) as NodeId[]
  const datasets = new Set(Object.values(jobs).flatMap(({ reads, writes }) => [...reads, ...writes]))
  return merge(EMPTY_GRAPH, [
    ...ids.map((id) => jobNode(id, jobs)),
    ...[...datasets].map((id) => datasetNode(id, jobs)),
  ])
}

function pilesIn({ graph }: ReturnType<typeof piled>): Pile[] {
  return [...graph.nodes.values()].flatMap((node) => (node.kind === 'pile' ? [node] : []))
}

describe('a node with very many neighbours', () => {
  test('is drawn with twenty of them, and a pile for the others and the datasets that only they write', () => {
    const drawn = piled(graphOf(hubOf(1_000)), LOOK)

    expect(drawn.graph.nodes.size).toBe(1 + 20 + 20 + 1)
    expect(pilesIn(drawn)).toMatchObject([{ hub: HUB, of: 'job', neighbours: 980, nodes: 1_960, more: 80 }])
    expect(drawn.graph.targets.get(HUB)).toContain(drawn.drawnAs(job(999)))
  })

  test('shows failed jobs first, then those with the most neighbours', () => {
    const plans = hubOf(100, [70])
    const wide = { reads: [HUB], writes: [dataset(1), dataset(2), dataset(3)], runs: [run('COMPLETED')] }

    const drawn = piled(graphOf({ ...plans, [job(90)]: wide }), LOOK)

    expect([70, 90, 0, 17].map((n) => drawn.graph.nodes.has(job(n)))).toEqual([true, true, true, true])
    expect([18, 99].map((n) => drawn.graph.nodes.has(job(n)))).toEqual([false, false])
    expect(pilesIn(drawn)).toMatchObject([{ failed: 0 }])
  })

  test('is drawn with more of them each time its pile is expanded', () => {
    const graph = graphOf(hubOf(300, [...Array(30).keys()]))
    const first = pilesIn(piled(graph, LOOK))[0] as Pile
    const second = pilesIn(
      piled(graph, { ...LOOK, shownByPile: new Map([[first.id, first.next]]) }),
    )[0] as Pile
    const all = piled(graph, { ...LOOK, shownByPile: new Map([[first.id, second.next]]) })

    expect([first, second].map(({ neighbours, failed, more }) => [neighbours, failed, more])).toEqual([
      [280, 10, 80],
      [200, 0, 200],
    ])
    expect(all.graph).toBe(graph)
  })

  test('makes no pile of only a few', () => {
    const graph = graphOf(hubOf(24))

    expect(piled(graph, LOOK).graph).toBe(graph)
  })

  test('hides neither the open node nor its neighbours', () => {
    const graph = graphOf(hubOf(100))

    const drawn = piled(graph, { ...LOOK, open: dataset(80) })

    expect(drawn.graph.nodes.has(dataset(80))).toBe(true)
    expect(drawn.graph.sources.get(dataset(80))).toEqual([job(80)])
    expect(pilesIn(drawn)).toMatchObject([{ neighbours: 79, nodes: 158 }])
  })

  test('hides nothing that is also connected otherwise', () => {
    const other = { reads: [dataset(80)], writes: [HUB], runs: [run('COMPLETED')] }

    const drawn = piled(graphOf({ ...hubOf(100), [jobId('demo', 'other')]: other }), LOOK)

    expect(drawn.graph.nodes.has(dataset(80))).toBe(true)
  })

  test('makes a pile of inputs, too, if a job has very many', () => {
    const reads = Array.from({ length: 100 }, (_, n) => dataset(n))

    const drawn = piled(graphOf({ [job(0)]: { reads, writes: [HUB], runs: [] } }), LOOK)

    expect(pilesIn(drawn)).toMatchObject([{ hub: job(0), of: 'dataset', neighbours: 80, nodes: 80 }])
  })

  test('draws nodes on the path of a lit column first, and the rest of the path to the pile', () => {
    const graph = graphOf(hubOf(100))
    const input = { namespace: 'file', dataset: '/hub', field: 'a', transformations: [] }
    const made = (n: number) => ({
      data: { namespace: 'file', dataset: `/d/${n}`, field: 'a', fieldType: '', inputFields: [input] },
    })
    const columns = columnGraph({ graph: [...Array(40).keys()].map((n) => made(n + 60)), isCut: false })
    const path = lightUp(graph, columns, { dataset: HUB, column: 'a' }, true)

    const drawn = piled(graph, { ...LOOK, lit: path })
    const lit = columnOver(path, drawn.drawnAs)

    const pile = drawn.drawnAs(job(0))
    expect([...lit.jobs].sort()).toEqual([...Array.from({ length: 20 }, (_, n) => job(n + 60)), pile].sort())
    expect(lit.columns.size).toBe(1 + 20)
    const toPile = lit.segments.filter(({ to }) => to.node === pile)
    expect(toPile).toMatchObject([{ from: { node: HUB, column: 'a' }, to: { column: undefined } }])
    expect(lit.segments.filter(({ from }) => from.node === pile)).toEqual([])
  })
})

test('every edge is drawn between what represents its ends, or is within one pile', () => {
  const plan = fc.record({
    reads: fc.uniqueArray(fc.nat(60).map(dataset), { maxLength: 40 }),
    writes: fc.uniqueArray(fc.nat(60).map(dataset), { maxLength: 40 }),
    runs: fc.constantFrom([], [run('FAILED')]),
  })
  fc.assert(
    fc.property(fc.array(plan, { minLength: 1, maxLength: 60 }), fc.nat(60), (plans, open) => {
      const graph = graphOf(Object.fromEntries(plans.map((each, n) => [job(n), each])))
      const before = edgesOf(graph)

      const { graph: drawn, drawnAs } = piled(graph, { ...LOOK, open: dataset(open) })

      const lines = new Set(edgesOf(drawn).map(({ origin, destination }) => `${origin} > ${destination}`))
      const expected = before
        .map(({ origin, destination }) => [drawnAs(origin), drawnAs(destination)] as const)
        .filter(([origin, destination]) => origin !== destination)
      expect(lines).toEqual(new Set(expected.map(([origin, destination]) => `${origin} > ${destination}`)))
      expect([...graph.nodes.keys()].every((id) => drawn.nodes.has(drawnAs(id)))).toBe(true)
      expect(drawnAs(dataset(open))).toBe(dataset(open))
      for (const node of drawn.nodes.values()) {
        if (node.kind !== 'pile') continue
        const sides = [drawn.sources.get(node.hub) ?? [], drawn.targets.get(node.hub) ?? []]
        const ownOf = (side: readonly NodeId[]) => side.filter((id) => graph.nodes.has(id)).length
        expect(sides.some((side) => side.includes(node.id) && ownOf(side) >= 20)).toBe(true)
      }
    }),
  )
})
