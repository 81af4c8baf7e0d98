// @vitest-environment happy-dom

import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { jobId, type NodeId } from '../../src/core/ids'
import {
  AGGREGATE,
  CSV,
  DELAYS,
  FLIGHTS,
  INGEST,
  JOBS,
  type JobPlan,
  lakehouse,
  REPORT,
  run,
  wideAnswer,
} from '../lakehouse'
import { openPage } from './openPage'

function nodeOf(id: string): HTMLElement | undefined {
  return screen.queryAllByTestId('node').find((node) => node.dataset.nodeId === id)
}

async function shown(id: string): Promise<HTMLElement> {
  return waitFor(() => {
    const node = nodeOf(id)
    if (!node) throw new Error(`${id} is not shown`)
    return node
  })
}

function litColumns(): string[] {
  const lit = screen.getAllByTestId('column').filter(({ dataset }) => dataset.lit === 'true')
  return lit.map(({ dataset }) => `${dataset.nodeId} ${dataset.column}`).sort()
}

/** The ids of nodes that are not dimmed. */
function litNodes(): (string | undefined)[] {
  const nodes = screen.queryAllByTestId('node')
  const lit = nodes.filter(({ dataset }) => dataset.dim === 'false')
  return lit.length === nodes.length ? [] : lit.map(({ dataset }) => dataset.nodeId).sort()
}

describe('the path of a dataset', () => {
  const hash = `#node=${encodeURIComponent(REPORT)}`

  test('is lit as the service gives it', async () => {
    const service = lakehouse()
    service.offPath = [FLIGHTS, INGEST, CSV]
    openPage({ service, hash })

    expect(await screen.findByText('0 datasets upstream, 0 downstream')).toBeTruthy()
    await waitFor(() => expect(litNodes()).toEqual([REPORT, AGGREGATE].sort()))
  })

  test('is lit as far as data may flow if the service does not give it', async () => {
    const service = lakehouse()
    service.failing = 'path'
    openPage({ service, hash })

    await waitFor(() => expect(litNodes()).toEqual([CSV, INGEST, FLIGHTS, AGGREGATE, REPORT].sort()))
    expect(screen.queryByText(/upstream/)).toBeNull()
    expect(screen.queryByRole('alert')).toBeNull()
  })

  test('is requested once while the graph does not change, and not for nodes that were chosen only briefly', async () => {
    const service = lakehouse()
    const paths = () => service.requests.filter((path) => path.includes('/path'))
    openPage({ service, hash })
    await screen.findByText('2 datasets upstream, 0 downstream')
    const go = (node: NodeId) => act(() => void window.location.assign(`#node=${encodeURIComponent(node)}`))

    go(CSV)
    go(DELAYS)
    go(FLIGHTS)
    await screen.findByText('1 dataset upstream, 2 downstream')
    go(REPORT)
    await screen.findByText('2 datasets upstream, 0 downstream')

    expect(paths()).toEqual([`/api/v1/path${REPORT}`, `/api/v1/path${FLIGHTS}`])
  })

  test('grows with the graph, and is as of the shown time', async () => {
    const service = lakehouse({ [INGEST]: JOBS[INGEST] as JobPlan })
    const { listener } = openPage({
      service,
      hash: `#node=${encodeURIComponent(CSV)}`,
      asOf: '2026-01-02T00:00:00Z',
    })
    await screen.findByText('0 datasets upstream, 1 downstream')

    service.jobs = JOBS
    listener().onChange({ jobs: [AGGREGATE], datasets: [FLIGHTS, DELAYS, REPORT] })

    expect(await screen.findByText('0 datasets upstream, 3 downstream', {}, { timeout: 8_000 })).toBeTruthy()
    expect(service.times).toEqual(new Set(['2026-01-02T00:00:00Z']))
  }, 15_000)
})

describe('the graph', () => {
  test('shows every job and dataset with its label', async () => {
    openPage()

    await shown(INGEST)
    expect(screen.getAllByTestId('node')).toHaveLength(6)
    expect((await shown(DELAYS)).textContent).toContain('lake.marts.delays')
  })

  test('unfolds the columns of a dataset, by keyboard too', async () => {
    const { user } = openPage()
    const flights = await shown(FLIGHTS)

    within(flights).getByRole('button', { name: 'Show the 3 columns of lake.raw.flights' }).focus()
    await user.keyboard('{Enter}')

    const columns = await waitFor(() => within(nodeOf(FLIGHTS) as HTMLElement).getAllByTestId('column'))
    expect(columns.map(({ dataset }) => dataset.column)).toEqual(['carrier', 'arr_delay', 'tailnum'])
    expect(columns.every(({ dataset }) => dataset.lit === undefined)).toBe(true)
    expect(columns.map(({ title }) => title).slice(1)).toEqual([
      'arr_delay string',
      'tailnum string\nwhich plane',
    ])
  })

  test('lights the path of a column both ways, and dims the rest', async () => {
    openPage({ hash: `#node=${encodeURIComponent(FLIGHTS)}&column=arr_delay` })

    await waitFor(() =>
      expect(litColumns()).toEqual(
        [
          `${CSV} arr_delay`,
          `${DELAYS} avg_arr_delay`,
          `${FLIGHTS} arr_delay`,
          `${REPORT} avg_arr_delay`,
        ].sort(),
      ),
    )
    expect(screen.getByText('1 column upstream, 2 downstream')).toBeTruthy()
  })

  test('lights the path of a column of a wide dataset, and counts the columns without a row', async () => {
    const service = lakehouse()
    service.columns = wideAnswer(105)
    openPage({ service, hash: `#node=${encodeURIComponent(FLIGHTS)}&column=c7` })

    await waitFor(() => expect(litColumns()).toEqual([`${CSV} c7`, `${DELAYS} c7`, `${FLIGHTS} c7`].sort()))
    expect(screen.getByText('1 column upstream, 105 downstream')).toBeTruthy()
    expect(nodeOf(DELAYS)?.textContent).toContain('104 more on the path')
  })

  test('hides indirect edges on demand', async () => {
    const { user } = openPage({ hash: `#node=${encodeURIComponent(DELAYS)}&column=carrier` })
    await waitFor(() => expect(litColumns()).toContain(`${FLIGHTS} tailnum`))

    await user.click(screen.getByRole('checkbox', { name: 'indirect' }))

    await waitFor(() => expect(litColumns()).not.toContain(`${FLIGHTS} tailnum`))
    expect(litColumns()).toContain(`${FLIGHTS} carrier`)
  })

  test('Escape unlights the path first, then closes the details', async () => {
    const { user } = openPage({ hash: `#node=${encodeURIComponent(DELAYS)}&column=carrier` })
    await waitFor(() => expect(litColumns().length).toBeGreaterThan(0))

    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByTestId('column')).toBeNull())
    expect(screen.getByRole('complementary', { name: 'Details' })).toBeTruthy()
    await user.keyboard('{Escape}')

    await waitFor(() => expect(screen.queryByRole('complementary')).toBeNull())
  })

  test('shows a run that starts', async () => {
    const service = lakehouse()
    const { listener } = openPage({ service })
    await shown(INGEST)

    service.jobs = { ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs: [run('RUNNING')] } }
    listener().onChange({ jobs: [INGEST], datasets: [] })

    await waitFor(() => expect(nodeOf(INGEST)?.dataset.state).toBe('RUNNING'))
  })

  test('does not change while a button in it is pressed', async () => {
    const service = lakehouse()
    const { listener } = openPage({ service, hash: `#node=${encodeURIComponent(INGEST)}` })
    const fold = within(await shown(FLIGHTS)).getByRole('button', { name: /^Show the 3 columns/ })

    fireEvent.pointerDown(fold, { isPrimary: true })
    service.jobs = { ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs: [run('RUNNING')] } }
    listener().onChange({ jobs: [INGEST], datasets: [] })
    await waitFor(() => expect(screen.getByRole('complementary').textContent).toContain('running'))
    expect(nodeOf(INGEST)?.dataset.state).toBe('COMPLETED')
    fireEvent.pointerUp(fold)
    fireEvent.click(fold)

    await waitFor(() => expect(nodeOf(INGEST)?.dataset.state).toBe('RUNNING'))
    expect(fold.getAttribute('aria-expanded')).toBe('true')
  })
})

describe('without a graph', () => {
  test('the page says how to get events', async () => {
    openPage({ service: lakehouse({}) })

    expect(await screen.findByRole('heading', { name: 'No events yet' })).toBeTruthy()
    expect(screen.getByText('make demo')).toBeTruthy()
  })

  test('the page shows the error, and recovers', async () => {
    const service = lakehouse()
    service.broken = 500
    openPage({ service })

    expect((await screen.findByRole('alert')).textContent).toContain('The disk is full.')
    service.broken = undefined

    await shown(INGEST)
  })
})

describe('a dataset with many readers', () => {
  const readers = Array.from({ length: 60 }, (_, n) => jobId('demo', `reader-${n}`))
  const many: Record<NodeId, JobPlan> = {
    ...JOBS,
    ...Object.fromEntries(readers.map((job) => [job, { reads: [DELAYS], writes: [], runs: [] }])),
  }

  test('shows some of them, and the others on demand', async () => {
    const { user } = openPage({ service: lakehouse(many) })
    const pile = await screen.findByRole('button', { name: '40 more jobs: show all' })
    expect(screen.getAllByTestId('node')).toHaveLength(6 + 20)

    pile.focus()
    await user.keyboard('{Enter}')

    await waitFor(() => expect(screen.getAllByTestId('node')).toHaveLength(6 + 60))
    expect(screen.queryByTestId('pile')).toBeNull()
  })

  test('shows the one that is open', async () => {
    const last = readers[readers.length - 1] as NodeId
    openPage({ service: lakehouse(many), hash: `#node=${encodeURIComponent(last)}` })

    expect((await shown(last)).dataset.open).toBe('true')
    expect(await screen.findByRole('button', { name: '39 more jobs: show all' })).toBeTruthy()
  })
})

test('a job without a known run is not shown as never run', async () => {
  const lone = jobId('demo', 'lone')
  openPage({ service: lakehouse({ [lone]: { reads: [], writes: [], runs: [] } }) })

  expect(await screen.findByRole('button', { name: 'Job lone no run known' })).toBeTruthy()
})
