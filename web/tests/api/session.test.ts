import { expect, test } from 'vitest'
import { FetchSource } from '../../src/api/fetchSource'
import { Session } from '../../src/api/session'

/** A service that accepts these tokens (undefined: none is required), and a browser tab. */
function tab(...tokens: (string | undefined)[]) {
  const stored = new Map<string, string>()
  const sent: (string | undefined)[] = []
  let reloads = 0
  const session = () =>
    new Session({
      storage: { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value) },
      fetch: async (_url, init) => {
        const token = init?.headers?.authorization?.replace('Bearer ', '')
        sent.push(token)
        return new Response('{}', { status: tokens.includes(token) ? 200 : 401 })
      },
      reload: () => {
        reloads += 1
      },
    })
  return { session, sent, reloads: () => reloads }
}

test('requests to a service without access control carry no token', async () => {
  const { session, sent } = tab(undefined)
  const open = session()

  await open.fetch('jobs')

  expect(sent).toEqual([undefined])
  expect(open.authState()).toBe('ok')
})

test('signing in reloads the page, and requests carry the token from then on', async () => {
  const { session, sent, reloads } = tab('hw_1')
  const before = session()
  await before.fetch('jobs')

  before.signIn(' hw_1 ')
  const after = session()
  await after.fetch('jobs')

  expect(before.authState()).toBe('required')
  expect([reloads(), sent, after.authState()]).toEqual([1, [undefined, 'hw_1'], 'ok'])
})

test('after a token is rejected no more requests are sent', async () => {
  const { session, sent } = tab('hw_1')
  const states: string[] = []
  const open = session()
  open.subscribe(() => states.push(open.authState()))
  open.signIn('hw_2')

  await open.fetch('jobs')
  await open.fetch('jobs').catch(() => undefined)

  expect(sent).toEqual(['hw_2'])
  expect(states).toEqual(['rejected'])
})

test('a stream over fetch dispatches each event once it is complete, and an error at its end', async () => {
  const parts = [
    'retry: 1000\n\nevent: change\nid: 3\nda',
    'ta: {"a": 1}\n\n: alive\n\nevent: change\ndata: 2\n\n',
  ]
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })
  const source = new FetchSource(async () => new Response(body), 'stream')
  const received: string[] = []
  source.addEventListener('open', () => received.push('open'))
  source.addEventListener('change', (event) => received.push((event as MessageEvent<string>).data))

  await new Promise((ended) => source.addEventListener('error', ended))

  expect(received).toEqual(['open', '{"a": 1}', '2'])
})
