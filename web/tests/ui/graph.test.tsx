// @vitest-environment happy-dom

import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { jobId, type NodeId } from '../../src/core/ids'
import { CSV, DELAYS, FLIGHTS, INGEST, JOBS, type JobPlan, lakehouse, REPORT, run } from '../lakehouse'
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

describe('the graph', () => {
  test('shows every job and dataset by its short name', async () => {
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

  test('leaves out indirect edges when asked to', async () => {
    const { user } = openPage({ hash: `#node=${encodeURIComponent(DELAYS)}&column=carrier` })
    await waitFor(() => expect(litColumns()).toContain(`${FLIGHTS} tailnum`))

    await user.click(screen.getByRole('checkbox', { name: 'indirect' }))

    await waitFor(() => expect(litColumns()).not.toContain(`${FLIGHTS} tailnum`))
    expect(litColumns()).toContain(`${FLIGHTS} carrier`)
  })

  test('Escape puts out the path first, then closes the details', async () => {
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

  test('stands still while a button in it is pressed', async () => {
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

  test('the page says why there is none, and recovers', async () => {
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

  test('shows some of them, and the others when asked to', async () => {
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
