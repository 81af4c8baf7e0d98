// @vitest-environment happy-dom

import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import { datasetId, jobId, type NodeId, type RunId } from '../../src/core/ids'
import { formatRoute, routeTo } from '../../src/core/route'
import {
  AGGREGATE,
  DELAYS,
  FLIGHTS,
  INGEST,
  JOBS,
  type JobPlan,
  lakehouse,
  run,
  wideAnswer,
} from '../lakehouse'
import { openPage } from './openPage'

const at = (node: NodeId, column?: string) => formatRoute(routeTo(node, column))
const details = () => screen.findByRole('complementary', { name: 'Details' })

describe('the details of a dataset', () => {
  test('name it in full, with its other names, its jobs and its columns', async () => {
    openPage({ hash: at(DELAYS) })
    const panel = within(await details())

    await panel.findByText('/lake/marts/delays')
    await waitFor(() => panel.getByRole('heading', { name: 'Also known as' }))
    expect(panel.getByRole('button', { name: 'aggregate' })).toBeTruthy()
    expect(panel.getByText('No job is known to read it.')).toBeTruthy()
    expect(panel.getByRole('button', { name: 'avg_arr_delay' })).toBeTruthy()
  })

  test('show the owners, and the tags of it and its columns', async () => {
    openPage({ hash: at(DELAYS) })
    const panel = within(await details())

    expect((await panel.findByText('owned by')).parentElement?.textContent).toBe('owned by team:lake (owner)')
    const [own, ofColumn] = panel.getAllByRole('list', { name: 'Tags' })
    expect(own?.textContent).toBe('gold')
    expect(ofColumn?.textContent).toBe('public')
    expect(ofColumn?.closest('tr')?.textContent).toContain('carrier')
  })

  test('shorten long texts and lists of hundreds of tags and owners', async () => {
    const service = lakehouse()
    const owners = Array.from({ length: 40 }, (_, place) => ({ name: `team ${place}` }))
    const tags = Array.from({ length: 500 }, (_, place) => `tag ${place}`)
    service.extra = { description: 'as it is '.repeat(300), tags, facets: { ownership: { owners } } }
    const { user } = openPage({ service, hash: at(DELAYS) })
    const panel = within(await details())

    expect((await panel.findByText('owned by')).parentElement?.textContent).toMatch(/team 9$/)
    expect(panel.getByText(/^as it is/).textContent?.length).toBeLessThan(700)
    const [own] = panel.getAllByRole('list', { name: 'Tags' })
    expect(own?.children).toHaveLength(20)
    await user.click(panel.getByRole('button', { name: 'Show all of it' }))
    await user.click(panel.getByRole('button', { name: 'Show the first 100' }))
    await user.click(panel.getByRole('button', { name: 'Show all 40' }))

    expect(panel.getByText(/^as it is/).textContent).toHaveLength(2_700)
    expect(panel.getByText(/team 39$/)).toBeTruthy()
    expect(own?.children).toHaveLength(100)
  })

  test('are found by a name that it had before it was joined with another', async () => {
    const service = lakehouse()
    const old = datasetId('file', '/old/delays')
    service.aliases = { [old]: DELAYS }

    openPage({ service, hash: at(old) })

    const panel = within(await details())
    expect(await panel.findByText('/lake/marts/delays')).toBeTruthy()
    expect(window.location.hash).toBe(at(DELAYS))
  })

  test('list the members of a struct column, each with its own lineage', async () => {
    const { user } = openPage({ hash: at(FLIGHTS) })
    const panel = within(await details())

    await user.click(await panel.findByRole('button', { name: 'tailnum.prefix' }))

    expect(panel.getByRole('heading', { name: 'Schema 3' })).toBeTruthy()
    expect(await panel.findByText(/has no known source/)).toBeTruthy()
    expect(window.location.hash).toBe(at(FLIGHTS, 'tailnum.prefix'))
  })

  test('show its quality assertions', async () => {
    openPage({ hash: at(DELAYS) })
    const panel = within(await details())

    expect(await panel.findByText('not_null of carrier')).toBeTruthy()
    expect(panel.getByText('1 of 2 assertions')).toBeTruthy()
    expect(panel.getByText('failed')).toBeTruthy()
  })

  test('show the results of a job’s tests', async () => {
    openPage({ hash: at(AGGREGATE) })
    const panel = within(await details())

    expect(await panel.findByText('no_orphans')).toBeTruthy()
    expect(panel.getByText('1 of 2 tests')).toBeTruthy()
  })

  test('list the first of many readers by name, and all on demand', async () => {
    const service = lakehouse()
    const many = Array.from({ length: 60 }, (_, place) =>
      jobId('demo', `r${String(59 - place).padStart(2, '0')}`),
    )
    const reader = { reads: [DELAYS], writes: [], runs: [] }
    service.jobs = { ...JOBS, ...Object.fromEntries(many.map((job) => [job, reader])) }
    const { user } = openPage({ service, hash: at(DELAYS) })
    const panel = within(await details())
    const names = () => panel.getAllByRole('button', { name: /^r\d/ }).map(({ textContent }) => textContent)
    await waitFor(() => expect(panel.getByRole('heading', { name: 'Read by 60' })).toBeTruthy())
    expect(names()).toEqual(Array.from({ length: 10 }, (_, place) => `r0${place}`))

    await user.click(panel.getByRole('button', { name: 'Show the first 50' }))
    await waitFor(() => expect(names()).toHaveLength(50))
    await user.click(panel.getByRole('button', { name: 'Show all 60' }))

    await waitFor(() => expect(names()).toHaveLength(60))
    expect(panel.queryByRole('button', { name: /^Show/ })).toBeNull()
  })

  test('list readers that are not in the graph, by their labels', async () => {
    const service = lakehouse()
    const far = { nodeId: jobId('far', 'away'), namespace: 'far', name: 'away' }
    service.farReaders = { [DELAYS]: [far] }

    openPage({ service, hash: at(DELAYS) })

    const readers = await screen.findByRole('list', { name: 'Read by' })
    expect(within(readers).getByRole('button', { name: 'away' })).toBeTruthy()
  })

  test('list only the readers in the graph if the service refuses the list, and say so', async () => {
    const service = lakehouse()
    service.failing = 'neighbours'

    openPage({ service, hash: at(DELAYS) })

    const panel = within(await details())
    expect(await panel.findByRole('button', { name: 'aggregate' })).toBeTruthy()
    expect((await panel.findByRole('alert')).textContent).toBe('No.')
    expect(panel.getAllByText('Only those in the loaded graph are listed.')).toHaveLength(4)
    expect(panel.queryByText('No job is known to read it.')).toBeNull()
  })

  test('show the same error of several parts once', async () => {
    const service = lakehouse()
    openPage({ service })
    await screen.findAllByTestId('node')
    service.broken = 403

    act(() => {
      window.location.hash = at(DELAYS, 'avg_arr_delay')
    })

    const panel = within(await details())
    await panel.findAllByText('Only those in the loaded graph are listed.')
    expect(await panel.findAllByText('The disk is full.')).toHaveLength(1)
  })

  test('describe where a column comes from and what it reaches', async () => {
    openPage({ hash: at(DELAYS, 'avg_arr_delay') })

    const story = await screen.findByRole('region', { name: 'Column avg_arr_delay' })

    expect(story.textContent).toContain(
      'avg_arr_delay is aggregated from arr_delay of lake.raw.flights; grouped by carrier of lake.raw.flights; ' +
        'filtered by tailnum of lake.raw.flights.',
    )
    expect(story.textContent).toContain('avg_arr_delay reaches no other column.')
    expect(story.textContent).toContain('6 columns in 2 datasets upstream')
  })

  test('count what affects every column of a wide dataset, and list it among all upstream columns', async () => {
    const service = lakehouse()
    service.columns = wideAnswer(105)
    openPage({ service, hash: at(DELAYS, 'c7') })

    const story = await screen.findByRole('region', { name: 'Column c7' })

    expect(story.textContent).toContain(
      'c7 is copied from c7 of lake.raw.flights; ' +
        'grouped by 105 columns of lake.raw.flights, which affect every column.',
    )
    expect(story.textContent).toContain('210 columns in 2 datasets upstream')
    expect(within(story).getAllByRole('button', { name: 'c104', hidden: true })).toHaveLength(2)
  })

  test('name a few of many readers of a column, and list them all', async () => {
    const service = lakehouse()
    const reads = (n: number) => ({
      data: {
        ...{ namespace: 'file', dataset: `/r${n}`, field: 'carrier', fieldType: 'string' },
        inputFields: [{ namespace: 'file', dataset: '/lake/marts/delays', field: 'carrier' }],
      },
    })
    service.columns = { graph: Array.from({ length: 112 }, (_, n) => reads(n)), isCut: false }
    openPage({ service, hash: at(DELAYS, 'carrier') })

    const story = await screen.findByRole('region', { name: 'Column carrier' })

    const sentence = within(within(story).getByText('goes into').closest('p') as HTMLElement)
    expect(sentence.getAllByRole('button')).toHaveLength(12)
    expect(story.textContent).toContain(' and 100 more.')
    const all = within(story.querySelector('details') as HTMLElement)
    expect(all.getAllByRole('button', { name: 'carrier', hidden: true })).toHaveLength(112)
  })

  test('say that a column no longer exists', async () => {
    openPage({ hash: at(DELAYS, 'gone') })

    expect((await screen.findByText(/^The dataset has no column/)).textContent).toContain('gone now')
    expect(screen.queryByText(/has no known source/)).toBeNull()
  })

  test('follow the columns that they name', async () => {
    const { user } = openPage({ hash: at(DELAYS, 'avg_arr_delay') })
    const story = within(await screen.findByRole('region', { name: 'Column avg_arr_delay' }))

    await user.click(story.getAllByRole('button', { name: 'arr_delay' })[0] as HTMLElement)

    const next = await screen.findByRole('region', { name: 'Column arr_delay' })
    expect(next.textContent).toContain('arr_delay is copied from arr_delay of data/flights.csv.')
  })
})

describe('the details of a job', () => {
  test('list its runs with counters and verdict', async () => {
    openPage({ hash: at(INGEST) })
    const panel = within(await details())

    expect(await panel.findByText('verified')).toBeTruthy()
    expect(panel.getByText('336,776')).toBeTruthy()
    expect(panel.getByText('1.5 s')).toBeTruthy()
    expect(panel.getByText('completed')).toBeTruthy()
  })

  test('show its owners, tags and SQL', async () => {
    openPage({ hash: at(INGEST) })
    const panel = within(await details())

    expect((await panel.findByText('owned by')).parentElement?.textContent).toBe('owned by team:lake (owner)')
    expect(panel.getByText('nightly')).toBeTruthy()
    expect(panel.getByText('SELECT 1').closest('details')?.open).toBe(false)
  })

  test('show the end of a run whose start is unknown', async () => {
    const ended = run('FAILED', { startedAt: null, endedAt: '2026-01-02T03:04:05Z', durationMs: null })
    openPage({
      service: lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs: [ended] } }),
      hash: at(INGEST),
    })
    const panel = within(await details())

    const item = (await panel.findByText('failed')).closest('li')
    expect(item?.textContent).toContain('ended 2 Jan 2026')
  })

  test('show a stream as stale that is silent for longer than announced, with the time of its last event', async () => {
    const silent = run('RUNNING', {
      durationMs: null,
      updatedAt: '2026-01-02T04:00:00Z',
      staleAfter: '2026-01-02T04:01:00Z',
    })
    openPage({
      service: lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs: [silent] } }),
      hash: at(INGEST),
    })
    const panel = within(await details())

    const item = (await panel.findByText('stale')).closest('li')
    expect(item?.getAttribute('data-state')).toBe('STALE')
    expect(item?.textContent).toContain('last event 2 Jan 2026')
    const card = await screen.findByRole('button', { name: /^Job ingest stale, last event 2 Jan 2026/ })
    expect(card.closest('[data-testid=node]')?.getAttribute('data-state')).toBe('STALE')
  })

  test('show a stream as stale as soon as its next event is overdue', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 })
    const soon = run('RUNNING', { staleAfter: new Date(Date.now() + 60_000).toISOString() })
    openPage({ service: lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs: [soon] } }) })
    expect(await screen.findByRole('button', { name: 'Job ingest running' })).toBeTruthy()

    await act(() => vi.advanceTimersByTimeAsync(61_000))

    expect(await screen.findByRole('button', { name: 'Job ingest stale' })).toBeTruthy()
    vi.useRealTimers()
  })

  test('show earlier runs on demand', async () => {
    const runs = Array.from({ length: 30 }, (_, place) => run('COMPLETED', { id: `run-${place}` as RunId }))
    const service = lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs } })
    const { user } = openPage({ service, hash: at(INGEST) })
    const panel = within(await details())
    await waitFor(() => expect(panel.getAllByText('completed')).toHaveLength(25))

    await user.click(panel.getByRole('button', { name: 'Show all 30' }))

    await waitFor(() => expect(panel.getAllByText('completed')).toHaveLength(30))
    expect(panel.queryByRole('button', { name: /^Show all/ })).toBeNull()
  })

  test('link from a pipeline to its task and back', async () => {
    const aggregate = { ...(JOBS[AGGREGATE] as JobPlan), partOf: 'ingest' }
    const { user } = openPage({ service: lakehouse({ ...JOBS, [AGGREGATE]: aggregate }), hash: at(INGEST) })
    const panel = within(await details())

    const parts = within((await panel.findByRole('heading', { name: 'Parts' })).parentElement as HTMLElement)
    await user.click(parts.getByRole('button', { name: 'aggregate' }))

    const whole = within(
      (await panel.findByRole('heading', { name: 'Part of' })).parentElement as HTMLElement,
    )
    expect(whole.getByRole('button', { name: 'ingest' })).toBeTruthy()
    expect(panel.queryByRole('heading', { name: 'Parts' })).toBeNull()
  })

  test('list parts that are not in the graph', async () => {
    const partOf = 'ingest'
    const unseen = Object.fromEntries(
      Array.from({ length: 101 }, (_, place) => {
        const id = jobId('demo', `task-${String(place).padStart(3, '0')}`)
        return [id, { reads: [], writes: [], runs: [], partOf }]
      }),
    )
    openPage({ service: lakehouse({ ...JOBS, ...unseen }), hash: at(INGEST) })
    const panel = within(await details())

    const title = await panel.findByRole('heading', { name: 'Parts 101' })

    expect(within(title.parentElement as HTMLElement).getByText('Show the first 50')).toBeTruthy()
  })

  test('show why a run failed, and that its events were tampered with', async () => {
    const signature = { verdict: 'tampered', keyId: null, events: 2, verified: 1 } as const
    const errorMessage = { message: 'No space left on device', stackTrace: 'Traceback: …' }
    const failed = run('FAILED', { id: 'r' as RunId, facets: { errorMessage }, signature })
    const jobs = { ...JOBS, [AGGREGATE]: { ...(JOBS[AGGREGATE] as JobPlan), runs: [failed] } }
    openPage({ service: lakehouse(jobs), hash: at(AGGREGATE) })
    const panel = within(await details())

    expect(await panel.findByText('No space left on device')).toBeTruthy()
    expect(panel.getByText('tampered')).toBeTruthy()
  })

  test('list the events of a run, each with its key', async () => {
    const { user } = openPage({ hash: at(INGEST) })
    const panel = within(await details())

    await user.click(await panel.findByRole('button', { name: '2 of 2 events verified' }))

    const events = within(await panel.findByRole('list', { name: 'Events' }))
    expect(events.getByText('START')).toBeTruthy()
    expect(events.getAllByText('node:a#sha256:x')).toHaveLength(2)
  })
})

test('the address of an unknown node says that', async () => {
  openPage({ hash: at('job:demo:nope' as NodeId) })

  expect(await screen.findByText(/has no job or dataset with the id job:demo:nope/)).toBeTruthy()
})

test('a step back in the browser’s history shows the previous node', async () => {
  const { user } = openPage({ hash: at(INGEST) })
  const title = async () => within(await details()).getByRole('heading', { level: 2 }).textContent
  await waitFor(async () => expect(await title()).toBe('ingest'))

  await user.click(await screen.findByRole('button', { name: 'lake.raw.flights' }))
  await waitFor(async () => expect(await title()).toBe('lake.raw.flights'))
  window.location.hash = at(INGEST)

  await waitFor(async () => expect(await title()).toBe('ingest'))
})
