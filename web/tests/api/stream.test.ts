import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Connection, listen, type Source } from '../../src/api/stream'
import type { Touched } from '../../src/api/types'

/** A stream that the test speaks through. */
class SpokenSource extends EventTarget implements Source {
  isClosed = false
  close(): void {
    this.isClosed = true
  }
  say(type: string, data?: string): void {
    this.dispatchEvent(Object.assign(new Event(type), { data }))
  }
}

function listening(storedEvents: () => Promise<number> = async () => 0) {
  const sources: SpokenSource[] = []
  const changes: (Touched | undefined)[] = []
  const connections: Connection[] = []
  const stop = listen(
    {
      open: () => {
        const source = new SpokenSource()
        sources.push(source)
        return source
      },
      storedEvents,
      pollEveryMs: 1_000,
      reopenEveryMs: 5_000,
    },
    {
      onChange: (change) => changes.push(change),
      onConnection: (connection) => connections.push(connection),
    },
  )
  const say = (type: string, data?: string) => sources.at(-1)?.say(type, data)
  return { sources, changes, connections, stop, say }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('while the stream is open', () => {
  test('a change names the nodes that it touched', () => {
    const { changes, connections, say } = listening()

    say('open')
    say('change', '{"index": 3, "jobs": ["job:a:b"], "datasets": [], "run": "r"}')

    expect(connections).toEqual(['live'])
    expect(changes).toEqual([{ jobs: ['job:a:b'], datasets: [] }])
  })

  test.each(['', 'x', '{}', '{"jobs": 1, "datasets": []}'])(
    'a change that reads %j means anything',
    (data) => {
      const { changes, say } = listening()

      say('change', data)

      expect(changes).toEqual([undefined])
    },
  )

  test('after missed events anything may have changed', () => {
    const { changes, say } = listening()

    say('missed', '{"first": 3, "last": 5}')

    expect(changes).toEqual([undefined])
  })

  test('nothing is polled', async () => {
    const polled = vi.fn(async () => 0)
    const { say } = listening(polled)

    say('open')
    await vi.advanceTimersByTimeAsync(10_000)

    expect(polled).not.toHaveBeenCalled()
  })
})

describe('when the stream fails', () => {
  test('polling finds a change within a second', async () => {
    let stored = 5
    const { changes, connections, say } = listening(async () => stored)

    say('error')
    await vi.advanceTimersByTimeAsync(0)
    const first = changes.length
    await vi.advanceTimersByTimeAsync(3_000)
    const unchanged = changes.length
    stored = 6
    await vi.advanceTimersByTimeAsync(1_000)

    expect([first, unchanged, changes.length]).toEqual([1, 1, 2]) // the first: something may have been missed
    expect(connections.at(-1)).toBe('polling')
  })

  test('a service that does not respond is lost, and polled again', async () => {
    let isUp = false
    const { changes, connections, say } = listening(async () => {
      if (!isUp) throw new Error('down')
      return 5
    })

    say('error')
    await vi.advanceTimersByTimeAsync(2_000)
    const whileDown = connections.at(-1)
    isUp = true
    await vi.advanceTimersByTimeAsync(1_000)

    expect([whileDown, connections.at(-1)]).toEqual(['lost', 'polling'])
    expect(changes).toEqual([undefined])
  })

  test('the stream is reopened, and missed events are polled for', async () => {
    const { sources, changes, connections, say } = listening(async () => 5)

    say('error')
    await vi.advanceTimersByTimeAsync(5_000)
    const before = changes.length
    say('open')

    expect(sources.map(({ isClosed }) => isClosed)).toEqual([true, false])
    expect(connections.at(-1)).toBe('live')
    expect(changes.length).toBe(before + 1)
  })

  test('stopping ends all requests', async () => {
    const polled = vi.fn(async () => 0)
    const { sources, say, stop } = listening(polled)

    say('error')
    stop()
    await vi.advanceTimersByTimeAsync(20_000)

    expect(polled).toHaveBeenCalledTimes(1)
    expect(sources.map(({ isClosed }) => isClosed)).toEqual([true])
  })
})
