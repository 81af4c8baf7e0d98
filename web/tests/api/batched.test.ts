import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { batched } from '../../src/api/batched'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('slow work runs less often, and skips no item', async () => {
  const done: (readonly number[])[] = []
  const add = batched<number>(200, async (items) => {
    done.push(items)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  })

  for (let each = 0; each < 100; each += 1) {
    add(each)
    await vi.advanceTimersByTimeAsync(100)
  }
  await vi.advanceTimersByTimeAsync(10_000)

  expect(done).toHaveLength(3)
  expect(done.flat()).toHaveLength(100)
})
