// @vitest-environment happy-dom

import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CATALOG, formatRoute, type Route, routeTo } from '../../src/core/route'
import { FLIGHTS, INGEST, JOBS, type JobPlan, lakehouse, run } from '../lakehouse'
import { openPage } from './openPage'

const THEN = '2026-01-02T04:04:05.000Z'
const ROUTES: readonly Route[] = [
  routeTo(FLIGHTS, 'arr_delay'),
  routeTo(INGEST),
  CATALOG,
  { ...CATALOG, kind: 'datasets', namespace: 'file' },
  { view: 'failures' },
  { view: 'drift' },
  { view: 'record', machine: 'edge-7' },
]

test.each(ROUTES)('every request of $view is as of that time', async (route) => {
  const { service, user } = openPage({ hash: formatRoute(route), asOf: THEN })
  await screen.findByRole('heading', { name: /Schema|Runs|Failed|changes|Emitters|Failures|Catalog/ })
  for (const question of screen.queryAllByText(/^(Why might|What changed|What depends on)/))
    await user.click(question)

  expect(within(screen.getByRole('banner')).queryByText('live')).toBeNull()
  expect([...service.times]).toEqual([THEN])
})

test('the duration of a run that was running then ends at that time', async () => {
  const runs = [run('RUNNING')]
  const service = lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs } })

  openPage({ service, hash: formatRoute(routeTo(INGEST)), asOf: THEN })

  expect(await screen.findByText('1 h 0 min')).toBeTruthy()
})

test('another time is chosen in the reader’s time zone, and now by one button', async () => {
  const { user, showAsOf } = openPage({ asOf: THEN })
  await user.click(screen.getByText(/^as of/))

  fireEvent.change(screen.getByLabelText('Show everything as of'), {
    target: { value: '2026-01-01T12:00:00' },
  })
  await user.click(screen.getByRole('button', { name: 'Show' }))
  await user.click(screen.getByRole('button', { name: 'Back to now' }))

  expect(showAsOf.mock.calls).toEqual([[new Date(2026, 0, 1, 12).toISOString()], [undefined]])
})

test('notices that there were no events or no such node have a button back to now', async () => {
  const empty = lakehouse({})
  const { user, showAsOf } = openPage({ service: empty, hash: formatRoute(routeTo(INGEST)), asOf: THEN })
  const notice = within(
    (await screen.findByText(/^There are no events of that time/)).parentElement as HTMLElement,
  )
  const panel = within(await screen.findByRole('complementary', { name: 'Details' }))
  expect(await panel.findByText(/had no job or dataset with the id .* at that time\.$/)).toBeTruthy()

  await user.click(notice.getByRole('button', { name: 'Back to now' }))
  await user.click(panel.getByRole('button', { name: 'Back to now' }))

  expect(showAsOf.mock.calls).toEqual([[undefined], [undefined]])
})

test('the notice that the service refused the time has a button back to now', async () => {
  const service = lakehouse()
  service.broken = 400
  const { user, showAsOf } = openPage({ service, asOf: 'last Tuesday' })

  const notice = within((await screen.findByText('No lineage to show')).parentElement as HTMLElement)
  expect(notice.queryByText(/retries/)).toBeNull()
  await user.click(notice.getByRole('button', { name: 'Back to now' }))

  expect(showAsOf.mock.calls).toEqual([[undefined]])
})
