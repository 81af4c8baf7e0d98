// @vitest-environment happy-dom

import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { formatRoute, routeTo } from '../../src/core/route'
import { AGGREGATE, DELAYS, lakehouse } from '../lakehouse'
import { openPage } from './openPage'

const box = () => screen.getByRole('combobox', { name: 'Search jobs, datasets' })

describe('search', () => {
  test('says what it does not find only once the service has said so', async () => {
    const service = lakehouse()
    openPage({ service })
    await screen.findAllByTestId('node')
    const field = screen.getByRole('combobox')

    fireEvent.focus(field)
    fireEvent.change(field, { target: { value: 'nowhere' } })

    expect(screen.getByText('Searching…')).toBeTruthy()
    expect(await screen.findByText('Nothing by that name.')).toBeTruthy()
    service.broken = 503
    fireEvent.change(field, { target: { value: 'nowhere else' } })
    expect(await screen.findByText(/the service does not answer/)).toBeTruthy()
  })

  test('is reached by / and opens what Enter chooses', async () => {
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

  test('leads the keyboard to what it opened', async () => {
    const { user } = openPage()
    await screen.findAllByTestId('node')

    await user.type(box(), 'marts')
    await user.keyboard('{Enter}')

    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Details'))
    await user.keyboard('{Tab}')
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Close details')
  })

  test('tells screen readers whether there is a list, and Escape closes it where one is', async () => {
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

  test('names no list where nothing is found', async () => {
    const { user } = openPage()

    await user.type(box(), 'nowhere')
    await screen.findByText('Nothing by that name.')

    expect(box().getAttribute('aria-expanded')).toBe('false')
    expect(box().getAttribute('aria-controls')).toBeNull()
  })

  test('says when there is nothing', async () => {
    const { user } = openPage()

    await user.type(box(), 'nowhere')

    expect(await screen.findByText('Nothing by that name.')).toBeTruthy()
  })
})
