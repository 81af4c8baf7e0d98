// @vitest-environment happy-dom

import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { formatRoute, type Route, routeTo } from '../../src/core/route'
import { FLIGHTS, INGEST, JOBS, type JobPlan, lakehouse, run } from '../lakehouse'
import { openPage } from './openPage'

const THEN = '2026-01-02T04:04:05.000Z'
const ROUTES: readonly Route[] = [
  routeTo(FLIGHTS, 'arr_delay'),
  routeTo(INGEST),
  { view: 'failures' },
  { view: 'drift' },
  { view: 'record', machine: 'edge-7' },
]

test.each(ROUTES)('all that $view shows is asked for as it was then', async (route) => {
  const { service, user } = openPage({ hash: formatRoute(route), asOf: THEN })
  await screen.findByRole('heading', { name: /Schema|Runs|Failed|changes|Emitters|Failures/ })
  for (const question of screen.queryAllByText(/^(Why might|What changed|What depends on)/))
    await user.click(question)

  expect(within(screen.getByRole('banner')).queryByText('live')).toBeNull()
  expect([...service.times]).toEqual([THEN])
})

test('a run that went on then counts its time until then', async () => {
  const runs = [run('RUNNING')]
  const service = lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs } })

  openPage({ service, hash: formatRoute(routeTo(INGEST)), asOf: THEN })

  expect(await screen.findByText('1 h 0 min')).toBeTruthy()
})

test('another time is chosen on the reader’s clock, and now is a step away', async () => {
  const { user, showAsOf } = openPage({ asOf: THEN })
  await user.click(screen.getByText(/^as of/))

  fireEvent.change(screen.getByLabelText('Show all as it was at'), {
    target: { value: '2026-01-01T12:00:00' },
  })
  await user.click(screen.getByRole('button', { name: 'Show' }))
  await user.click(screen.getByRole('button', { name: 'Back to now' }))

  expect(showAsOf.mock.calls).toEqual([[new Date(2026, 0, 1, 12).toISOString()], [undefined]])
})

test('where nothing had happened, and where a node was not known, now is a step away', async () => {
  const empty = lakehouse({})
  const { user, showAsOf } = openPage({ service: empty, hash: formatRoute(routeTo(INGEST)), asOf: THEN })
  const notice = within((await screen.findByText(/^No event reports anything/)).parentElement as HTMLElement)
  const panel = within(await screen.findByRole('complementary', { name: 'Details' }))
  expect(await panel.findByText(/knew no job or dataset by the id .* then\.$/)).toBeTruthy()

  await user.click(notice.getByRole('button', { name: 'Back to now' }))
  await user.click(panel.getByRole('button', { name: 'Back to now' }))

  expect(showAsOf.mock.calls).toEqual([[undefined], [undefined]])
})

test('where the service refuses the time, now is a step away', async () => {
  const service = lakehouse()
  service.broken = 400
  const { user, showAsOf } = openPage({ service, asOf: 'last Tuesday' })

  const notice = within((await screen.findByText('No lineage to show')).parentElement as HTMLElement)
  expect(notice.queryByText(/asks again/)).toBeNull()
  await user.click(notice.getByRole('button', { name: 'Back to now' }))

  expect(showAsOf.mock.calls).toEqual([[undefined]])
})
