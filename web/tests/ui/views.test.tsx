// @vitest-environment happy-dom

import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import { jobId, type RunId } from '../../src/core/ids'
import { CATALOG, DRIFT, FAILURES, formatRoute, RECORD, routeTo, withAsked } from '../../src/core/route'
import { FLIGHTS, INGEST, JOBS, type JobPlan, lakehouse, RAW_EVENT, run } from '../lakehouse'
import { openPage } from './openPage'

const LATE = jobId('demo', 'late')
const at = (column?: string) => formatRoute(routeTo(FLIGHTS, column))

test.each([
  [500, 'out of date'],
  [undefined, 'live'],
])('if the service answers with %s while its stream is open, the status is %s', async (status, word) => {
  const { service, listener } = openPage()
  await screen.findAllByTestId('node')
  act(() => listener().onConnection('live'))

  service.broken = status
  listener().onChange({ jobs: [INGEST], datasets: [] })

  expect(await screen.findByText(word)).toBeTruthy()
})

describe('the catalog', () => {
  test('lists all jobs with their last run, and opens one', async () => {
    const { user } = openPage({ hash: formatRoute(CATALOG) })
    const [head, ingest, aggregate] = await screen.findAllByRole('row')
    expect(within(head as HTMLElement).getAllByRole('columnheader')).toHaveLength(5)
    expect(within(aggregate as HTMLElement).getByRole('button', { name: 'aggregate' })).toBeTruthy()
    const row = within(ingest as HTMLElement)
    expect(row.getByText('completed')).toBeTruthy()
    expect(row.getByText('1.5 s')).toBeTruthy()
    expect(row.getByRole('img', { name: '1 completed' })).toBeTruthy()

    await user.click(row.getByRole('button', { name: 'ingest' }))

    expect(await screen.findByRole('complementary', { name: 'Details' })).toBeTruthy()
  })

  test('lists the jobs of a namespace whose last run failed', async () => {
    const service = lakehouse()
    service.jobs = { ...JOBS, [LATE]: { reads: [], writes: [], runs: [run('FAILED')] } }
    const { user } = openPage({ service, hash: formatRoute(CATALOG) })
    expect(await screen.findByText('3 jobs, the last reported first')).toBeTruthy()

    await user.selectOptions(screen.getByLabelText('Last run'), 'failed')

    expect(await screen.findByText('1 job, the last reported first')).toBeTruthy()
    expect(screen.getByRole('button', { name: 'late' })).toBeTruthy()
    const choice = screen.getByLabelText('Namespace')
    expect(
      within(choice)
        .getAllByRole('option')
        .map(({ textContent }) => textContent),
    ).toEqual(['all', 'demo', 'file'])

    await user.selectOptions(choice, 'file')

    expect(await screen.findByText('No such job is known.')).toBeTruthy()
    expect(window.location.hash).toBe('#view=catalog&namespace=file&state=FAILED')
  })

  test('lists the datasets of a namespace', async () => {
    openPage({ hash: '#view=catalog&kind=datasets&namespace=file' })

    expect(await screen.findByText('4 datasets, by namespace and name')).toBeTruthy()
    const [, row] = screen.getAllByRole('row')
    expect(within(row as HTMLElement).getByText('3')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Datasets' }).getAttribute('aria-current')).toBe('page')
    expect(screen.queryByLabelText('Last run')).toBeNull()
  })

  test('keeps the namespace of an address that the service does not list', async () => {
    openPage({ hash: '#view=catalog&namespace=elsewhere' })

    const choice = await screen.findByLabelText<HTMLSelectElement>('Namespace')
    await within(choice).findByRole('option', { name: 'file' })

    expect(choice.value).toBe('elsewhere')
  })
})

describe('the record', () => {
  test('shows the checkpoint of the log and whether each record is complete', async () => {
    openPage({ hash: formatRoute(RECORD) })

    const [, centre, edge] = await screen.findAllByRole('row')
    expect(within(centre as HTMLElement).getByText('complete')).toBeTruthy()
    expect(within(edge as HTMLElement).getByText('2 events missing')).toBeTruthy()
    expect(screen.getByText('lineage.example.org')).toBeTruthy()
    expect(screen.getByText('no known witness')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Record' }).getAttribute('aria-current')).toBe('page')
  })

  test('shows gaps, and where they are', async () => {
    const { user } = openPage({ hash: formatRoute(RECORD) })
    const gaps = within(await screen.findByRole('region', { name: 'What was not reported' }))
    expect(await gaps.findByText(/^18 of 20 events are signed/)).toBeTruthy()
    expect(gaps.queryByText(/^Edges/)).toBeNull()

    await user.click(gaps.getByText(/^Names in quarantine/))

    expect(await gaps.findByText("input 'nameless' has no namespace")).toBeTruthy()
    expect(gaps.getByText(/^20 older/)).toBeTruthy()
    expect(gaps.getAllByText('demo')).toHaveLength(2)
    expect(gaps.getByRole('button', { name: 'odd:one' })).toBeTruthy()
    expect(gaps.getByRole('button', { name: 'db.table' })).toBeTruthy()
    expect(gaps.getByText('far://h:1')).toBeTruthy()
    await user.click(gaps.getByRole('button', { name: 'aggregate' }))
    expect(await screen.findByRole('complementary', { name: 'Details' })).toBeTruthy()
  })

  test('shows up to which size a witness signed the log', async () => {
    const service = lakehouse()
    const signed = '— lineage.example.org AAAA\n— witness.example.com BBBB\n'
    service.witnessed = `lineage.example.org\n18\nb2xk\n\n${signed}`
    openPage({ service, hash: formatRoute(RECORD) })

    expect(await screen.findByText('witness.example.com, up to 18 entries')).toBeTruthy()
  })

  test('does not request a witnessed checkpoint if there is none', async () => {
    const { service } = openPage({ hash: formatRoute(RECORD) })
    await screen.findByText('no known witness')

    expect(service.requests.filter((path) => path.endsWith('/log/checkpoint'))).toHaveLength(1)
  })

  test('opens the details of a node by keyboard, and closes them by Escape', async () => {
    const { user } = openPage({ hash: formatRoute(RECORD) })
    const button = await screen.findByRole('button', { name: 'edge-7' })
    button.focus()

    await user.keyboard('{Enter}')
    const panel = within(await screen.findByRole('complementary', { name: 'Details' }))
    expect(await panel.findByText('numbers 1 to 2')).toBeTruthy()
    expect(document.activeElement).toBe(panel.getByRole('heading', { name: 'edge-7' }))
    await user.keyboard('{Escape}')

    expect(await screen.findByRole('button', { name: 'edge-7', expanded: false })).toBe(
      document.activeElement,
    )
  })

  test('shows the service’s message if the caller may not see it', async () => {
    const service = lakehouse()
    service.broken = 403
    openPage({ service, hash: formatRoute(RECORD) })

    expect((await screen.findAllByRole('alert')).map(({ textContent }) => textContent)).toContain(
      'The disk is full.',
    )
  })
})

test('a schema change links to the changed column', async () => {
  const { user } = openPage({ hash: formatRoute(DRIFT) })
  const change = within(await screen.findByRole('row', { name: /arr_delay/ }))
  expect(change.getByText('int')).toBeTruthy()
  expect(change.getByText('string')).toBeTruthy()
  expect(screen.getByText('breaking')).toBeTruthy()
  expect(screen.getByRole('listitem', { name: '/lake/raw/flights' })).toBeTruthy()
  expect(change.getByRole('button', { name: 'reader' })).toBeTruthy() // which is not drawn
  expect(change.getByText('far://h:1')).toBeTruthy()

  await user.click(change.getByRole('button', { name: 'arr_delay' }))

  expect(await screen.findByRole('region', { name: 'Column arr_delay' })).toBeTruthy()
})

test('the details of a node with events under an untrusted key say how its key is enrolled', async () => {
  openPage({ hash: formatRoute({ view: 'record', machine: 'edge-7' }) })

  expect(await screen.findByText('headwater key token --node edge-7')).toBeTruthy()
})

describe('an entry of the log', () => {
  test('is linked from a schema change, and shown in full as received', async () => {
    const { user } = openPage({ hash: formatRoute(DRIFT) })

    await user.click(await screen.findByRole('link', { name: 'entry 9' }))

    expect(await screen.findByText('sha256:9')).toBeTruthy()
    expect(await screen.findByText('sha256:root')).toBeTruthy()
    expect(screen.getByText(/"big": 12345678901234567890/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Record' }).getAttribute('aria-current')).toBe('page')
  })

  test('is copied byte for byte', async () => {
    const { user } = openPage({ hash: '#view=entry&index=9' })

    await user.click(await screen.findByRole('button', { name: 'Copy the event' }))

    expect(await navigator.clipboard.readText()).toBe(RAW_EVENT)
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Copy the event' }).textContent).toBe('copied'),
    )
  })

  test('is linked from a finding and from a change', async () => {
    const asked = ['why', 'changes'] as const
    openPage({ hash: formatRoute({ ...routeTo(FLIGHTS), asked }) })

    const links = await waitFor(() => {
      const found = screen.getAllByRole('link', { name: /^entry/ })
      expect(found).toHaveLength(3)
      return found
    })
    expect(links.map((link) => link.getAttribute('href'))).toEqual(
      [9, 9, 7].map((index) => `#view=entry&index=${index}`),
    )
  })
})

/** Waits until throttled refreshes after the first load are done. */
async function settled(): Promise<void> {
  for (let times = 0; times < 3; times++) await act(() => vi.advanceTimersByTimeAsync(10_000))
}

describe('failures', () => {
  const errorMessage = { message: 'disk full', stackTrace: 'at line 1' }
  const first = run('FAILED', { id: 'run-0' as RunId })
  const runs = [run('FAILED', { facets: { errorMessage } }), first, run('COMPLETED')]

  test('show what failed and why, and link to the job', async () => {
    const service = lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs } })
    const { user } = openPage({ service })

    await user.click(await screen.findByRole('link', { name: 'Failures 2' }))

    const failed = within(await screen.findByRole('listitem', { name: 'ingest' }))
    expect(failed.getByText('disk full')).toBeTruthy()
    expect(failed.getByText(/^2 failed runs in a row, last succeeded at/)).toBeTruthy()
    expect(screen.queryByRole('listitem', { name: 'aggregate' })).toBeNull()
    expect(screen.getByRole('listitem', { name: 'live' }).textContent).toContain('expected every 1 min 0 s')
    await user.click(failed.getByRole('button', { name: 'ingest' }))
    expect(await screen.findByRole('complementary', { name: 'Details' })).toBeTruthy()
  })

  test('are refreshed while the page is visible: silence causes no event', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 })
    const service = lakehouse()
    const { silent } = service
    service.silent = { silentStreams: [], totalCount: 0 }
    openPage({ service, hash: formatRoute(FAILURES) })
    await screen.findByText(/^No job's last run failed/)
    expect(screen.queryByRole('listitem', { name: 'live' })).toBeNull()

    service.silent = silent
    await vi.advanceTimersByTimeAsync(25_000)

    expect(await screen.findByRole('listitem', { name: 'live' })).toBeTruthy()
    vi.useRealTimers()
  })

  test('are not refreshed while the page is hidden, but at once when it is visible again', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 })
    const visible = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
    const { service } = openPage({ hash: formatRoute(FAILURES) })
    await screen.findByText(/^No job's last run failed/)
    const looks = () => service.requests.filter((path) => path.endsWith('/coverage')).length
    await settled()
    const before = looks()

    await vi.advanceTimersByTimeAsync(60_000)
    expect(looks()).toBe(before)
    visible.mockReturnValue('visible')
    fireEvent(document, new Event('visibilitychange'))

    await waitFor(() => expect(looks()).toBe(before + 2)) // two lists are made of gaps
    visible.mockRestore()
    vi.useRealTimers()
  })

  test('as of a past time are not refreshed', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 })
    const { service } = openPage({ hash: formatRoute(FAILURES), asOf: '2026-01-02T03:04:05Z' })
    await screen.findByText(/^No job's last run failed/)
    const looks = () => service.requests.filter((path) => path.endsWith('/coverage')).length
    await settled()
    const before = looks()

    await vi.advanceTimersByTimeAsync(60_000)

    expect(looks()).toBe(before)
    vi.useRealTimers()
  })

  test('can all be listed, however many', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 120 }, (_, place) => [
        jobId('demo', `job-${String(place).padStart(3, '0')}`),
        { reads: [], writes: [], runs: [run('FAILED', { id: `run-${place}` as RunId })] },
      ]),
    )
    const { user } = openPage({ service: lakehouse(many), hash: formatRoute(FAILURES) })
    const failed = within(await screen.findByRole('region', { name: 'Failed 120' }))
    expect(failed.getAllByRole('listitem')).toHaveLength(50)

    await user.click(failed.getByRole('button', { name: 'Show all 120' }))

    await waitFor(() => expect(failed.getAllByRole('listitem')).toHaveLength(120))
    expect(failed.queryByRole('button', { name: /^Show/ })).toBeNull()
  })

  test('of jobs with the same name show each namespace once', async () => {
    const failed = (id: string) => ({ reads: [], writes: [], runs: [run('FAILED', { id: id as RunId })] })
    const jobs = { [jobId('prod', 'load')]: failed('run-1'), [jobId('staging', 'load')]: failed('run-2') }
    openPage({ service: lakehouse(jobs), hash: formatRoute(FAILURES) })

    const listed = await screen.findAllByRole('listitem', { name: 'load' })

    await waitFor(() =>
      expect(listed.map(({ textContent }) => textContent?.match(/prod|staging/g))).toEqual([
        ['prod'],
        ['staging'],
      ]),
    )
  })

  test('include a silent stream in their count as soon as it is silent', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 })
    const service = lakehouse()
    const { silent } = service
    service.silent = { silentStreams: [], totalCount: 0 }
    openPage({ service })
    await screen.findByRole('link', { name: 'Failures' })

    service.silent = silent
    await vi.advanceTimersByTimeAsync(20_000)

    expect(await screen.findByRole('link', { name: 'Failures 1' })).toBeTruthy()
    vi.useRealTimers()
  })

  test('are announced to screen readers when there are more, but not when the page is opened', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 })
    const service = lakehouse()
    const { silent } = service
    openPage({ service })
    const news = within(screen.getByRole('navigation', { name: 'Views' })).getByRole('status')
    await screen.findByRole('link', { name: 'Failures 1' })
    expect(news.textContent).toBe('')

    service.silent = { ...silent, totalCount: 3 }
    await vi.advanceTimersByTimeAsync(20_000)

    await waitFor(() => expect(news.textContent).toBe('2 new failures, 3 in all'))
    vi.useRealTimers()
  })

  test('say that there are none', async () => {
    const service = lakehouse()
    service.silent = { silentStreams: [], totalCount: 0 }
    openPage({ service, hash: formatRoute(FAILURES) })

    expect(await screen.findByText(/^No job's last run failed/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Failures' })).toBeTruthy()
  })

  test('are listed to callers who may not see silent streams', async () => {
    const service = lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs } })
    service.forbidden = ['silent-streams', 'coverage']
    openPage({ service, hash: formatRoute(FAILURES) })

    expect(await screen.findByRole('listitem', { name: 'ingest' })).toBeTruthy()
    expect(screen.getByText(/^Silent streams and runs are shown only to those/)).toBeTruthy()
    expect(screen.queryByRole('alert')).toBeNull()
    expect(await screen.findByRole('link', { name: 'Failures 1' })).toBeTruthy()
  })

  test('list silent runs without an end, also of jobs that announced no interval', async () => {
    openPage({ hash: formatRoute(FAILURES) })

    const promised = within(await screen.findByRole('region', { name: /^Stale streams/ }))
    const others = within(screen.getByRole('region', { name: /^Silent runs without an end/ }))
    expect(promised.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(['live'])
    expect(others.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(['tail', 'stuck'])
  })
})

describe('a dataset', () => {
  test('requests the root cause only once the question is opened', async () => {
    const { service, user } = openPage({ hash: at() })
    const question = await screen.findByText('Why might it be wrong?')
    expect(service.requests.filter((path) => path.includes('root-cause'))).toEqual([])

    await user.click(question)

    const findings = within(await screen.findByRole('list', { name: 'Findings' })).getAllByRole('listitem')
    expect(findings.map(({ textContent }) => textContent?.includes('a consequence of the above'))).toEqual([
      false,
      true,
    ])
    expect(findings[0]?.textContent).toContain('shown by entry 9')
  })

  test.each([
    ['RUNNING', 'is running'],
    ['NEW', 'has not started'],
    ['FAILED', 'failed'],
  ])('shows its last run, which is %s, in a sentence', async (state, words) => {
    const service = lakehouse()
    service.rootCause = { ...service.rootCause, run: { ...(service.rootCause?.run as object), state } }
    openPage({ service, hash: formatRoute(withAsked(routeTo(FLIGHTS), 'why', true)) })

    expect(await screen.findByText(`The last run of aggregate ${words}; 2 runs examined.`)).toBeTruthy()
  })

  test('shows the commands that prove where it comes from', async () => {
    const { user } = openPage({ hash: formatRoute(routeTo(FLIGHTS, 'arr_delay')) })

    await user.click(await screen.findByText('Can I prove where arr_delay comes from?'))

    expect(
      screen.getByText('headwater audit export --dataset file /lake/raw/flights --upstream -o proof.zip'),
    ).toBeTruthy()
    expect(screen.getByText('headwater audit verify proof.zip --column arr_delay')).toBeTruthy()
  })

  test('keeps its open questions in the address', async () => {
    const { user } = openPage({ hash: at() })
    await user.click(await screen.findByText('Why might it be wrong?'))
    await user.click(await screen.findByText('What depends on it?'))
    await waitFor(() => expect(window.location.hash).toMatch(/&asked=why%2Cimpact$/))
    await screen.findByRole('list', { name: 'Findings' })

    await user.click(await screen.findByText('Why might it be wrong?'))

    await waitFor(() => expect(window.location.hash).toMatch(/&asked=impact$/))
    expect(screen.queryByRole('list', { name: 'Findings' })).toBeNull()
  })

  test('opens the questions in the address', async () => {
    openPage({ hash: formatRoute(withAsked(routeTo(FLIGHTS), 'why', true)) })

    expect(await screen.findByRole('list', { name: 'Findings' })).toBeTruthy()
  })

  test('are asked about a job too', async () => {
    const { user } = openPage({ hash: formatRoute(routeTo(INGEST)) })
    await user.click(await screen.findByText('Why might its output be wrong?'))

    expect(await screen.findByRole('list', { name: 'Findings' })).toBeTruthy()
  })

  test('shows what changed since a time of the reader’s choice', async () => {
    const { service, user } = openPage({ hash: at() })
    await user.click(await screen.findByText('What changed?'))

    const changes = await screen.findByRole('list', { name: 'Changes' })
    expect(changes.textContent).toContain('changed column arr_delay of lake.raw.flights, int → long')
    expect(changes.textContent).toContain('entry 7')
    fireEvent.change(screen.getByLabelText('since'), { target: { value: '2026-01-01T12:00:00' } })

    await waitFor(() => expect([...service.since]).toContain(new Date(2026, 0, 1, 12).toISOString()))
  })

  test('requests the root cause again after an event upstream', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 })
    const { service, user, listener } = openPage({ hash: at() })
    await user.click(await screen.findByText('Why might it be wrong?'))
    await screen.findByRole('list', { name: 'Findings' })

    service.rootCause = { ...service.rootCause, findings: [] }
    listener().onChange({ jobs: [INGEST], datasets: [] })
    await vi.advanceTimersByTimeAsync(10_000)

    expect(await screen.findByText(/^Nothing changed or failed upstream/)).toBeTruthy()
    vi.useRealTimers()
  })

  test('keeps its other details if one answer cannot be shown', async () => {
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const service = lakehouse()
    service.rootCause = { run: {} }
    const { user } = openPage({ service, hash: at() })

    await user.click(await screen.findByText('Why might it be wrong?'))

    expect((await screen.findByRole('alert')).textContent).toContain('The page cannot show this.')
    expect(screen.getByRole('heading', { name: /^Schema/ })).toBeTruthy()
    silent.mockRestore()
  })

  test('is not reported as unknown while the service does not answer, and is shown once it does', async () => {
    const service = lakehouse()
    const { listener } = openPage({ service })
    await screen.findAllByTestId('node')
    service.broken = 503

    window.location.hash = formatRoute(routeTo(LATE))

    expect((await screen.findByRole('alert')).textContent).toBe('The disk is full.')
    expect(screen.queryByText('Not found')).toBeNull()
    service.broken = undefined
    service.jobs = { ...service.jobs, [LATE]: { reads: [], writes: [], runs: [] } }
    listener().onChange({ jobs: [INGEST], datasets: [] })
    await waitFor(() => expect(screen.getByText('It has not run yet.')).toBeTruthy())
  })

  test('shows what depends on a column, and what breaks without it', async () => {
    const { user } = openPage({ hash: at('arr_delay') })
    await user.click(await screen.findByText('What depends on arr_delay?'))
    expect(await screen.findByText('owned by team:finance')).toBeTruthy()
    expect(screen.queryByText('breaking')).toBeNull()

    await user.click(screen.getByRole('checkbox', { name: /dropped/ }))

    expect(await screen.findAllByText('breaking')).toHaveLength(2)
    expect(window.location.hash).toMatch(/&asked=impact&change=drop$/)
  })

  test('shows what breaks without it if the address says so', async () => {
    openPage({ hash: formatRoute({ ...routeTo(FLIGHTS, 'arr_delay'), asked: ['impact'], isDrop: true }) })

    expect(await screen.findAllByText('breaking')).toHaveLength(2)
    expect((screen.getByRole('checkbox', { name: /dropped/ }) as HTMLInputElement).checked).toBe(true)
  })
})
