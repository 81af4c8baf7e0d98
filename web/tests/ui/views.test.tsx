// @vitest-environment happy-dom

import { screen, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { DRIFT, formatRoute, RECORD } from '../../src/core/route'
import { FLIGHTS, lakehouse } from '../lakehouse'
import { openPage } from './openPage'

const at = (column?: string) => formatRoute({ view: 'graph', node: FLIGHTS, column })

describe('the record', () => {
  test('shows the head of the log and whether each record is whole', async () => {
    openPage({ hash: formatRoute(RECORD) })

    const [, centre, edge] = await screen.findAllByRole('row')
    expect(within(centre as HTMLElement).getByText('whole')).toBeTruthy()
    expect(within(edge as HTMLElement).getByText('2 events missing')).toBeTruthy()
    expect(screen.getByText('lineage.example.org')).toBeTruthy()
    expect(screen.getByText('nobody, as far as this service knows')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Record' }).getAttribute('aria-current')).toBe('page')
  })

  test('says how far a witness vouches for the log', async () => {
    const service = lakehouse()
    const signed = '— lineage.example.org AAAA\n— witness.example.com BBBB\n'
    service.witnessed = `lineage.example.org\n18\nb2xk\n\n${signed}`
    openPage({ service, hash: formatRoute(RECORD) })

    expect(await screen.findByText('witness.example.com, up to 18 entries')).toBeTruthy()
  })

  test('opens a node closely by keyboard, and closes it by Escape', async () => {
    const { user } = openPage({ hash: formatRoute(RECORD) })
    const button = await screen.findByRole('button', { name: 'edge-7' })
    button.focus()

    await user.keyboard('{Enter}')
    const panel = within(await screen.findByRole('complementary', { name: 'Details' }))
    expect(await panel.findByText('numbers 1 to 2')).toBeTruthy()
    await user.keyboard('{Escape}')

    expect(await screen.findByRole('button', { name: 'edge-7', expanded: false })).toBeTruthy()
  })

  test('says what the service says where it may not be seen', async () => {
    const service = lakehouse()
    service.broken = 403
    openPage({ service, hash: formatRoute(RECORD) })

    expect((await screen.findAllByRole('alert')).map(({ textContent }) => textContent)).toContain(
      'The disk is full.',
    )
  })
})

test('a schema change leads to the column that changed', async () => {
  const { user } = openPage({ hash: formatRoute(DRIFT) })
  const change = within(await screen.findByRole('row', { name: /arr_delay/ }))
  expect(change.getByText('int')).toBeTruthy()
  expect(change.getByText('string')).toBeTruthy()
  expect(screen.getByText('breaking')).toBeTruthy()

  await user.click(change.getByRole('button', { name: 'arr_delay' }))

  expect(await screen.findByRole('region', { name: 'Column arr_delay' })).toBeTruthy()
})

describe('a dataset', () => {
  test('is asked why it may be wrong only when somebody wants to know', async () => {
    const { service, user } = openPage({ hash: at() })
    const question = await screen.findByText('Why might it be wrong?')
    expect(service.asked.filter((path) => path.includes('root-cause'))).toEqual([])

    await user.click(question)

    const findings = within(await screen.findByRole('list', { name: 'Findings' })).getAllByRole('listitem')
    expect(findings.map(({ textContent }) => textContent?.includes('follows from what is above'))).toEqual([
      false,
      true,
    ])
    expect(findings[0]?.textContent).toContain('shown by entry 9')
  })

  test('tells what hangs on a column, and what breaks without it', async () => {
    const { user } = openPage({ hash: at('arr_delay') })
    await user.click(await screen.findByText('What hangs on arr_delay?'))
    expect(await screen.findByText('owned by team:finance')).toBeTruthy()
    expect(screen.queryByText('breaking')).toBeNull()

    await user.click(screen.getByRole('checkbox', { name: /dropped/ }))

    expect(await screen.findAllByText('breaking')).toHaveLength(2)
  })
})
