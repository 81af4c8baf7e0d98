// @vitest-environment happy-dom

import { screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { formatRoute } from '../../src/core/route'
import { AGGREGATE, DELAYS } from '../lakehouse'
import { openPage } from './openPage'

const box = () => screen.getByRole('searchbox', { name: 'Search jobs, datasets' })

describe('search', () => {
  test('is reached by / and opens what Enter chooses', async () => {
    const { user } = openPage()
    await screen.findAllByTestId('node')

    await user.keyboard('/')
    expect(document.activeElement).toBe(box())
    await user.keyboard('aggr{Enter}')

    expect(window.location.hash).toBe(formatRoute({ view: 'graph', node: AGGREGATE, column: undefined }))
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

    await waitFor(() =>
      expect(window.location.hash).toBe(formatRoute({ view: 'graph', node: DELAYS, column: undefined })),
    )
    expect(screen.queryByRole('listbox')).toBeNull()
  })

  test('says when there is nothing', async () => {
    const { user } = openPage()

    await user.type(box(), 'nowhere')

    expect(screen.getByText('Nothing by that name.')).toBeTruthy()
  })
})
