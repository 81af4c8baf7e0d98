import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Client } from '../../src/api/client'
import { Feed } from '../../src/api/feed'
import type { Listener } from '../../src/api/stream'
import type { Touched } from '../../src/api/types'
import { datasetId, jobId, type NodeId } from '../../src/core/ids'
import { labelOf } from '../../src/core/nodeLabels'
import {
  AGGREGATE,
  DATASETS,
  DELAYS,
  FLIGHTS,
  INGEST,
  JOBS,
  type JobPlan,
  lakehouse,
  run,
} from '../lakehouse'

function feeding(jobs: Readonly<Record<NodeId, JobPlan>> = JOBS) {
  const service = lakehouse(jobs)
  let heard: Listener | undefined
  const feed = new Feed({
    client: new Client(service.fetch, 'api/v1'),
    listen: (listener) => {
      heard = listener
      return () => undefined
    },
    batchMs: 200,
    retryMs: 1_000,
  })
  const graph = () => {
    const { graph } = feed.state()
    if (graph.state !== 'ready') throw new Error(`the graph is ${graph.state}`)
    return graph.value
  }
  const tell = (news: Touched | undefined) => heard?.onChange(news)
  const change = (...touched: NodeId[]) => tell({ jobs: touched, datasets: [] })
  const jobState = (id: NodeId) => {
    const node = graph().nodes.get(id)
    return node?.kind === 'job' ? node.job.latestRun?.state : undefined
  }
  return { service, feed, graph, tell, change, jobState }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const settle = (ms = 200) => vi.advanceTimersByTimeAsync(ms)

describe('the feed', () => {
  test('begins with the whole graph, one lineage answer for each part of it', async () => {
    const lone = 'job:demo:lone' as NodeId
    const { service, graph } = feeding({ ...JOBS, [lone]: { reads: [], writes: [], runs: [] } })

    await settle()

    expect(new Set(graph().nodes.keys())).toEqual(
      new Set([...Object.keys(DATASETS), ...Object.keys(JOBS), lone]),
    )
    expect(service.requests.filter((path) => path.includes('/lineage'))).toHaveLength(2)
  })

  test('begins with every listed job, although their lineage overlaps', async () => {
    const chain = Array.from({ length: 100 }, (_, step): [NodeId, JobPlan] => [
      jobId('demo', `step-${step}`),
      { reads: [datasetId('lake', `t${step}`)], writes: [datasetId('lake', `t${step + 1}`)], runs: [] },
    ])
    const { graph } = feeding(Object.fromEntries(chain))

    await settle()

    expect(graph().nodes.size).toBe(100 + 101)
  })

  test('the first load does not outdate requests made during it', async () => {
    const { feed } = feeding()

    await settle()

    const { revision, graphRevision, nodeRevisions } = feed.state()
    expect([revision, graphRevision, nodeRevisions.size]).toEqual([0, 0, 0])
  })

  test('a first load that succeeds only after a failure outdates all answers', async () => {
    const { service, feed } = feeding()
    service.broken = 503
    await settle()

    service.broken = undefined
    await settle(1_500)

    expect(feed.state().revision).toBe(1)
    expect(feed.state().nodeRevisions.get(INGEST)).toBe(1)
  })

  test('labels datasets by their table names', async () => {
    const { graph } = feeding()

    await settle()

    expect(labelOf(graph(), DELAYS)).toBe('lake.marts.delays')
  })

  test('shows a changed run within 300 ms', async () => {
    const { service, change, jobState } = feeding()
    await settle()

    service.jobs = { ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs: [run('RUNNING')] } }
    change(INGEST)
    await settle(300)

    expect(jobState(INGEST)).toBe('RUNNING')
  })

  test('a burst of events leads to one update', async () => {
    const { service, change } = feeding()
    await settle()
    const before = service.requests.length

    for (let event = 0; event < 50; event += 1) change(INGEST)
    await settle()

    expect(service.requests.slice(before).filter((path) => path.includes('/lineage'))).toEqual([
      `/api/v1/lineage${INGEST}`,
    ])
  })

  test('holds a node that was included during a full reload', async () => {
    const lone = Array.from({ length: 101 }, (_, n) => jobId('demo', `lone-${n}`))
    const far = lone[100] as NodeId
    const plan = { reads: [], writes: [], runs: [] }
    const { service, feed, tell, graph } = feeding(Object.fromEntries(lone.map((job) => [job, plan])))
    await settle()
    expect(graph().nodes.has(far)).toBe(false)

    tell(undefined)
    vi.advanceTimersByTime(200)
    const sent = service.requests.length
    while (!service.requests.slice(sent).some((path) => path.includes('/lineage'))) await Promise.resolve()
    await feed.include(far)
    await settle()

    expect(graph().nodes.has(far)).toBe(true)
  })

  test.each([
    ['after an event on it', { jobs: [INGEST], datasets: [] }],
    ['in a full reload', undefined],
  ])('removes a node that no longer exists, %s', async (_, news) => {
    const { service, tell, graph } = feeding()
    await settle()

    const { [INGEST]: _gone, ...rest } = JOBS
    service.jobs = rest
    tell(news)
    await settle()

    expect(graph().nodes.has(INGEST)).toBe(false)
    expect(graph().nodes.has(AGGREGATE)).toBe(true)
  })

  test('begins with a readable part of a large graph, and adds only nodes connected to it', async () => {
    const empty = { reads: [], writes: [], runs: [] }
    const read = Array.from({ length: 1_000 }, (_, place) => datasetId('file', `/${place}`))
    const [wide, lone, reader, apart] = ['wide', 'lone', 'reader', 'apart'].map((name) => jobId('demo', name))
    const { service, feed, tell, graph } = feeding({
      [wide as NodeId]: { ...empty, reads: read },
      [lone as NodeId]: empty,
    })
    await settle()
    const begin = new Set(graph().nodes.keys())

    service.jobs = {
      ...service.jobs,
      [reader as NodeId]: { ...empty, reads: read.slice(0, 1) },
      [apart as NodeId]: empty,
    }
    tell({ jobs: [reader as NodeId, apart as NodeId], datasets: read.slice(0, 1) })
    await settle()

    expect(begin).toEqual(new Set([wide, ...read]))
    expect(feed.state().unlisted).toBe(1)
    expect(new Set(graph().nodes.keys())).toEqual(new Set([...begin, reader]))
  })

  /** The graph around an included node, of a service with many more jobs. */
  async function deepLinked() {
    const lone = Array.from({ length: 101 }, (_, n) => jobId('demo', `lone-${n}`))
    const plan = { reads: [], writes: [], runs: [] }
    const feeding_ = feeding({ ...Object.fromEntries(lone.map((job) => [job, plan])), ...JOBS })
    void feeding_.feed.include(FLIGHTS)
    await settle()
    return feeding_
  }

  test('while a node is included, events of unconnected jobs change nothing and cause no request', async () => {
    const { service, feed, change } = await deepLinked()
    const before = feed.state()
    const sent = service.requests.length

    service.jobs = { ...service.jobs, [jobId('demo', 'new')]: { reads: [], writes: [], runs: [] } }
    change(jobId('demo', 'new'))
    await settle(1_000)

    const { graph, graphRevision, nodeRevisions, unlisted } = feed.state()
    expect(service.requests.slice(sent)).toEqual([])
    expect(unlisted).toBeGreaterThan(0)
    expect({ graph, graphRevision }).toEqual({ graph: before.graph, graphRevision: before.graphRevision })
    expect(graph).toBe(before.graph)
    expect([...nodeRevisions]).toEqual([...before.nodeRevisions])
    expect(feed.state().revision).toBeGreaterThan(before.revision)
  })

  test('adds unconnected jobs again once no node is included, while there is room', async () => {
    const { service, feed, change, graph } = await deepLinked()
    const fresh = jobId('demo', 'new')
    service.jobs = { ...service.jobs, [fresh]: { reads: [], writes: [], runs: [] } }

    feed.release()
    change(fresh)
    await settle()

    expect(graph().nodes.has(fresh)).toBe(true)
  })

  test('raises the revision of the included node at once, however long the graph takes to load', async () => {
    const { service, feed, change } = await deepLinked()
    const before = feed.state().nodeRevisions.get(FLIGHTS) ?? 0
    let answer: () => void = () => undefined
    service.delay = new Promise<void>((resolve) => {
      answer = resolve
    })

    change(INGEST, FLIGHTS)
    await settle(300)
    expect(feed.state().nodeRevisions.get(FLIGHTS)).toBeGreaterThan(before)
    service.delay = undefined
    answer()
    await settle()
  })

  test('loads only the neighbours of a node that has no new neighbour', async () => {
    const { service, change, jobState } = await deepLinked()
    const sent = service.depths.length

    service.jobs = { ...service.jobs, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs: [run('FAILED')] } }
    change(INGEST)
    await settle()

    expect(jobState(INGEST)).toBe('FAILED')
    expect(service.depths.slice(sent)).toEqual(['0'])
  })

  test('loads the whole lineage of a node that has a new neighbour', async () => {
    const { service, change, graph } = await deepLinked()
    const [reader, sent] = [jobId('demo', 'reader'), service.depths.length]

    service.jobs = { ...service.jobs, [reader]: { reads: [FLIGHTS], writes: [], runs: [] } }
    change(reader, FLIGHTS)
    await settle()

    expect(graph().nodes.has(reader)).toBe(true)
    expect(service.depths.slice(sent)).toEqual(['0', '20'])
  })

  test('keeps the included node in a full reload', async () => {
    const { feed, tell, graph } = feeding({})
    await settle()
    await feed.include(FLIGHTS)

    tell(undefined)
    await settle()

    expect(graph().nodes.has(FLIGHTS)).toBe(true)
  })

  test('raises the revisions of the nodes that an event touched', async () => {
    const { feed, change } = feeding()
    await settle()
    const [ingest, aggregate] = [INGEST, AGGREGATE].map((id) => feed.state().nodeRevisions.get(id))

    change(INGEST)
    await settle()

    expect(feed.state().nodeRevisions.get(INGEST)).toBeGreaterThan(ingest ?? 0)
    expect(feed.state().nodeRevisions.get(AGGREGATE)).toBe(aggregate)
  })

  test('includes a node that was not listed', async () => {
    const { feed, graph } = feeding({})
    await settle()

    await feed.include(FLIGHTS)

    expect(graph().nodes.has(FLIGHTS)).toBe(true)
  })

  test('including an unknown node changes nothing', async () => {
    const { feed, graph } = feeding()
    await settle()
    const before = graph().nodes.size

    await feed.include('job:demo:nope' as NodeId)

    expect(graph().nodes.size).toBe(before)
  })
})

describe('when the service fails', () => {
  test('the feed gives the reason, and shows the graph as soon as it can', async () => {
    const { service, feed, graph } = feeding()
    service.broken = 500

    await settle()
    const failed = feed.state().graph
    service.broken = undefined
    await settle(1_200)

    expect(failed).toEqual({ state: 'failed', message: 'The disk is full.' })
    expect(graph().nodes.has(INGEST)).toBe(true)
  })

  test('a loaded graph stays', async () => {
    const { service, change, jobState } = feeding()
    await settle()

    service.broken = 500
    change(INGEST)
    await settle()

    expect(jobState(INGEST)).toBe('COMPLETED')
  })

  test('a loaded graph is behind until the service answers again', async () => {
    const { service, feed, change } = feeding()
    await settle()

    service.broken = 500
    change(INGEST)
    await settle()
    const behind = feed.state().isBehind
    service.broken = undefined
    await settle(1_500)

    expect([behind, feed.state().isBehind]).toEqual([true, false])
  })

  test('an invalid request is not retried', async () => {
    const { service, feed } = feeding()
    service.broken = 400
    await settle()
    const sent = service.requests.length

    await settle(10_000)

    expect(feed.state().isFatal).toBe(true)
    expect(service.requests).toHaveLength(sent)
  })

  test('a stopped feed sends no more requests', async () => {
    const { service, feed } = feeding()
    service.broken = 500
    await settle()
    const sent = service.requests.length

    feed.stop()
    await settle(10_000)

    expect(service.requests).toHaveLength(sent)
  })
})
