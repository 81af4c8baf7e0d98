// @vitest-environment happy-dom

import { act, cleanup, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { useThrottledRevision } from '../../src/ui/useThrottledRevision'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  cleanup()
})

const slowly = (initialProps: { revision: number; subject: string }) =>
  renderHook(({ revision, subject }) => useThrottledRevision(revision, 1_000, subject), { initialProps })

test('a growing revision changes after the interval, to the newest by then', () => {
  const { result, rerender } = slowly({ revision: 1, subject: 'a' })

  rerender({ revision: 2, subject: 'a' })
  rerender({ revision: 3, subject: 'a' })
  expect(result.current).toBe(1)
  act(() => vi.advanceTimersByTime(1_000))

  expect(result.current).toBe(3)
})

test('the revision of another subject applies at once, and does not change later', () => {
  const { result, rerender } = slowly({ revision: 7, subject: 'a' })

  rerender({ revision: 2, subject: 'b' })
  expect(result.current).toBe(2)
  act(() => vi.advanceTimersByTime(5_000))

  expect(result.current).toBe(2)
})
