// @vitest-environment happy-dom

import { act, cleanup, renderHook, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../src/api/client'
import { useLoaded } from '../../src/ui/useLoaded'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

interface Asked {
  readonly subject: string
  readonly revision: number
  readonly answer: string | ServiceError
}

/** The value after rendering with each of these in turn. */
async function shownAfter(...asked: [Asked, ...Asked[]]): Promise<unknown> {
  let answers = 0
  const { result, rerender } = renderHook(
    ({ subject, revision, answer }) =>
      useLoaded(subject, revision, async () => {
        answers += 1
        if (answer instanceof ServiceError) throw answer
        return answer
      }),
    { initialProps: asked[0] },
  )
  for (const [place, props] of asked.entries()) {
    rerender(props)
    await waitFor(() => expect(answers).toBe(place + 1))
    await waitFor(() => expect(result.current.state).not.toBe('loading'))
  }
  return result.current
}

const FOUND: Asked = { subject: 'failed jobs', revision: 1, answer: '3' }
const AWAY = new ServiceError('The lineage service does not answer.')

test.each([AWAY, new ServiceError('The lineage service answered 502.', 502)])(
  'what was last known stays while the service is away: $message',
  async (answer) => {
    expect(await shownAfter(FOUND, { ...FOUND, revision: 2, answer })).toEqual({ state: 'ready', value: '3' })
  },
)

test('an old value is not shown any more if the service refuses the request', async () => {
  const refused = new ServiceError('Nothing by that name.', 404)

  expect(await shownAfter(FOUND, { ...FOUND, revision: 2, answer: refused })).toMatchObject({
    state: 'failed',
  })
})

test('without an old value the error is shown while the service is unavailable', async () => {
  expect(await shownAfter(FOUND, { ...FOUND, subject: 'another', answer: AWAY })).toMatchObject({
    state: 'failed',
  })
})

test('a load is retried while the service is unavailable, until it succeeds or is no longer needed', async () => {
  vi.useFakeTimers()
  const answers = [AWAY, AWAY, 'back', AWAY]
  const load = vi.fn<() => Promise<string>>(async () => {
    const answer = answers.shift() ?? AWAY
    if (answer instanceof ServiceError) throw answer
    return answer
  })
  const { result, rerender, unmount } = renderHook(({ revision }) => useLoaded('a', revision, load), {
    initialProps: { revision: 1 },
  })

  await act(() => vi.advanceTimersByTimeAsync(60_000))
  expect(result.current).toEqual({ state: 'ready', value: 'back' })
  expect(load).toHaveBeenCalledTimes(3)
  rerender({ revision: 2 })
  await act(() => vi.advanceTimersByTimeAsync(1))
  unmount()
  await act(() => vi.advanceTimersByTimeAsync(60_000))

  expect(load).toHaveBeenCalledTimes(4)
})

test('a refused request is not retried', async () => {
  vi.useFakeTimers()
  const load = vi.fn<() => Promise<string>>(async () => {
    throw new ServiceError('Nothing by that name.', 404)
  })
  renderHook(() => useLoaded('a', 1, load))

  await act(() => vi.advanceTimersByTimeAsync(60_000))

  expect(load).toHaveBeenCalledTimes(1)
})

test('a load that is no longer needed is aborted', () => {
  const signals: AbortSignal[] = []
  const load = (signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<string>(() => undefined)
  }
  const { rerender, unmount } = renderHook(({ subject }) => useLoaded(subject, 1, load), {
    initialProps: { subject: 'a' },
  })

  rerender({ subject: 'b' })
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  unmount()

  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('a value is shown although the revision grew while it was loaded, and is then reloaded', async () => {
  const answers: ((answer: string) => void)[] = []
  const signals: AbortSignal[] = []
  const load = (signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<string>((resolve) => answers.push(resolve))
  }
  const { result, rerender } = renderHook(({ revision }) => useLoaded('a', revision, load), {
    initialProps: { revision: 1 },
  })

  for (const revision of [2, 3, 4]) rerender({ revision })
  expect(answers).toHaveLength(1)
  answers[0]?.('of then')

  await waitFor(() => expect(result.current).toEqual({ state: 'ready', value: 'of then' }))
  await waitFor(() => expect(answers).toHaveLength(2))
  answers[1]?.('of now')
  await waitFor(() => expect(result.current).toEqual({ state: 'ready', value: 'of now' }))
  expect(answers).toHaveLength(2)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
})
