// @vitest-environment happy-dom

import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { formatRoute, routeTo } from '../../src/core/route'
import { AGGREGATE, DELAYS, lakehouse } from '../lakehouse'
import { openPage } from './openPage'

const box = () => screen.getByRole('combobox', { name: 'Search jobs, datasets' })

describe('search', () => {
  test('reports no matches only once the service has answered', async () => {
    const service = lakehouse()
    openPage({ service })
    await screen.findAllByTestId('node')
    const field = screen.getByRole('combobox')

    fireEvent.focus(field)
    fireEvent.change(field, { target: { value: 'nowhere' } })

    expect(screen.getByText('Searching…')).toBeTruthy()
    expect(await screen.findByText('No matches.')).toBeTruthy()
    service.broken = 503
    fireEvent.change(field, { target: { value: 'nowhere else' } })
    expect(await screen.findByText(/the service does not answer/)).toBeTruthy()
  })

  test('is focused by / and opens the chosen hit by Enter', async () => {
    const { user } = openPage()
    await screen.findAllByTestId('node')

    await user.keyboard('/')
    expect(document.activeElement).toBe(box())
    await user.keyboard('aggr{Enter}')

    expect(window.location.hash).toBe(formatRoute(routeTo(AGGREGATE)))
  })

  test('chooses by arrows', async () => {
    const { user } = openPage()
    await screen.findAllByTestId('node')

    await user.type(box(), 'lake.')
    const options = screen.getAllByRole('option')
    await user.keyboard('{ArrowDown}')

    expect(options.map((option) => option.getAttribute('aria-selected'))).toEqual(['false', 'true'])
    expect(box().getAttribute('aria-activedescendant')).toBe(options[1]?.id)
  })

  test('opens what is clicked', async () => {
    const { user } = openPage()
    await screen.findAllByTestId('node')

    await user.type(box(), 'marts')
    await user.click(screen.getByRole('option', { name: /lake\.marts\.delays/ }))

    await waitFor(() => expect(window.location.hash).toBe(formatRoute(routeTo(DELAYS))))
    expect(screen.queryByRole('listbox')).toBeNull()
  })

  test('moves the focus to the details of the opened node', async () => {
    const { user } = openPage()
    await screen.findAllByTestId('node')

    await user.type(box(), 'marts')
    await user.keyboard('{Enter}')

    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Details'))
    await user.keyboard('{Tab}')
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Close details')
  })

  test('tells screen readers whether a list is open, and Escape closes it', async () => {
    const { user } = openPage()
    await screen.findAllByTestId('node')
    expect(box().getAttribute('aria-expanded')).toBe('false')

    await user.type(box(), 'lake.')
    expect(box().getAttribute('aria-expanded')).toBe('true')
    expect(box().getAttribute('aria-controls')).toBe(screen.getByRole('listbox').id)
    await user.keyboard('{Escape}')

    expect(screen.queryByRole('listbox')).toBeNull()
    expect(document.activeElement).toBe(box())
    await user.keyboard('{ArrowDown}')
    expect(screen.getByRole('listbox')).toBeTruthy()
  })

  test('refers to no list if there are no matches', async () => {
    const { user } = openPage()

    await user.type(box(), 'nowhere')
    await screen.findByText('No matches.')

    expect(box().getAttribute('aria-expanded')).toBe('false')
    expect(box().getAttribute('aria-controls')).toBeNull()
  })

  test('says that there are no matches', async () => {
    const { user } = openPage()

    await user.type(box(), 'nowhere')

    expect(await screen.findByText('No matches.')).toBeTruthy()
  })
})
