// @vitest-environment happy-dom

import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { RunId } from '../../src/core/ids'
import { formatRoute, routeTo } from '../../src/core/route'
import { AGGREGATE, CSV, DELAYS, INGEST, JOBS, type JobPlan, lakehouse, run } from '../lakehouse'
import { openPage } from './openPage'

const details = () => screen.findByRole('complementary', { name: 'Details' })
const card = () => screen.findByRole('button', { name: /^Job aggregate/ })
const focused = () => document.activeElement as HTMLElement

test('Enter on a card focuses the details, and Escape the card again', async () => {
  const { user } = openPage()
  ;(await card()).focus()

  await user.keyboard('{Enter}')
  await waitFor(() => expect(focused().tagName).toBe('H2'))
  expect(focused().textContent).toBe('aggregate')
  await user.keyboard('{Escape}')

  await waitFor(() => expect(screen.queryByRole('complementary')).toBeNull())
  expect(focused()).toBe(await card())
})

test('Enter on the card of a node that is already open focuses its details again', async () => {
  const { user } = openPage({ hash: formatRoute(routeTo(AGGREGATE)) })
  await details()
  ;(await card()).focus()

  await user.keyboard('{Enter}')

  await waitFor(() => expect(focused().tagName).toBe('H2'))
})

test('a click on a card leaves the focus there', async () => {
  openPage()
  ;(await card()).focus()

  fireEvent.click(await card(), { detail: 1 })
  await details()

  expect(focused()).toBe(await card())
})

test('Escape focuses the card of the node that was shown, however it was opened', async () => {
  const { user } = openPage()
  ;(await card()).focus()
  await user.keyboard('{Enter}')
  const panel = within(await details())
  ;(await panel.findByRole('button', { name: 'lake.marts.delays' })).focus()

  await user.keyboard('{Enter}')
  await waitFor(() => expect(panel.getByRole('heading', { level: 2 }).textContent).toBe('lake.marts.delays'))
  await user.keyboard('{Escape}')

  await waitFor(() => expect(focused().getAttribute('aria-label')).toBe('Dataset lake.marts.delays'))
})

test('Enter on a column of the schema focuses its story, and Escape the column again', async () => {
  const { user } = openPage({ hash: formatRoute(routeTo(DELAYS)) })
  const panel = within(await details())
  const column = await panel.findByRole('button', { name: 'avg_arr_delay' })
  column.focus()

  await user.keyboard('{Enter}')
  await waitFor(() => expect(focused().textContent).toBe('Where avg_arr_delay comes from'))
  await user.keyboard('{Escape}')

  await waitFor(() => expect(screen.queryByRole('region', { name: /^Column/ })).toBeNull())
  expect(focused()).toBe(panel.getByRole('button', { name: 'avg_arr_delay' }))
})

test('a focus that was moved before the story is loaded stays', async () => {
  const service = lakehouse()
  let answer: () => void = () => undefined
  service.columnDelay = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { user } = openPage({ service, hash: formatRoute(routeTo(CSV)) })
  const search = screen.getByRole('combobox')
  ;(await within(await details()).findByRole('button', { name: 'tailnum' })).focus()

  await user.keyboard('{Enter}')
  await screen.findByText('Loading the lineage of tailnum…')
  search.focus()
  answer()

  await screen.findByRole('region', { name: 'Column tailnum' })
  expect(focused()).toBe(search)
})

test('the first Tab offers to skip to the details', async () => {
  const { user } = openPage({ hash: formatRoute(routeTo(AGGREGATE)) })
  const panel = await details()
  focused().blur()

  await user.tab()
  expect(focused().textContent).toBe('Skip to the details')
  await user.keyboard('{Enter}')

  expect(focused()).toBe(panel)
  expect(window.location.hash).toBe(formatRoute(routeTo(AGGREGATE)))
})

test('without details it offers to skip to the content', async () => {
  const { user } = openPage({ hash: '#view=drift' })
  await screen.findByRole('row', { name: /arr_delay/ })
  focused().blur()

  await user.tab()
  await user.keyboard('{Enter}')

  expect(document.querySelector('main')?.contains(focused())).toBe(true)
})

test('showing more of a list by key focuses the first new item', async () => {
  const runs = Array.from({ length: 30 }, (_, place) =>
    run('COMPLETED', { id: `run-${place}` as RunId, startedAt: `2026-01-02T03:04:${40 - place}Z` }),
  )
  const service = lakehouse({ ...JOBS, [INGEST]: { ...(JOBS[INGEST] as JobPlan), runs } })
  const { user } = openPage({ service, hash: formatRoute(routeTo(INGEST)) })
  ;(await within(await details()).findByRole('button', { name: 'Show all 30' })).focus()

  await user.keyboard('{Enter}')

  await waitFor(() => expect(focused().className).toBe('run'))
  expect(focused().textContent).toContain('2 Jan 2026 03:04:15')
})

test('a link to another view focuses the start of that view, and back', async () => {
  const { user } = openPage({ hash: `${formatRoute(routeTo(DELAYS))}&asked=why` })
  const link = (await within(await details()).findAllByRole('link', { name: /^entry/ }))[0]
  link?.focus()

  await user.keyboard('{Enter}')

  await waitFor(() => expect(focused().tagName).toBe('H2'))
  expect(focused().textContent).toMatch(/^Entry/)
})
