import { expect, test } from 'vitest'
import { FetchSource } from '../../src/api/fetchSource'
import { Session } from '../../src/api/session'

/** A service that lets in who has one of these tokens, and a browser's tab. */
function tab(...tokens: (string | undefined)[]) {
  const kept = new Map<string, string>()
  const asked: (string | undefined)[] = []
  let begun = 0
  const session = () =>
    new Session({
      kept: { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) },
      fetch: async (_url, init) => {
        const token = init?.headers?.authorization?.replace('Bearer ', '')
        asked.push(token)
        return new Response('{}', { status: tokens.includes(token) ? 200 : 401 })
      },
      begin: () => {
        begun += 1
      },
    })
  return { session, asked, begun: () => begun }
}

test('a service that asks nobody is asked without a token', async () => {
  const { session, asked } = tab(undefined)
  const open = session()

  await open.fetch('jobs')

  expect(asked).toEqual([undefined])
  expect(open.admission()).toBe('open')
})

test('a service that asks who we are is told from the sign-in on, and the page begins anew', async () => {
  const { session, asked, begun } = tab('hw_1')
  const before = session()
  await before.fetch('jobs')

  before.signIn(' hw_1 ')
  const after = session()
  await after.fetch('jobs')

  expect(before.admission()).toBe('asked')
  expect([begun(), asked, after.admission()]).toEqual([1, [undefined, 'hw_1'], 'open'])
})

test('after a token is refused nothing more is asked with it', async () => {
  const { session, asked } = tab('hw_1')
  const told: string[] = []
  const open = session()
  open.subscribe(() => told.push(open.admission()))
  open.signIn('hw_2')

  await open.fetch('jobs')
  await open.fetch('jobs').catch(() => undefined)

  expect(asked).toEqual(['hw_2'])
  expect(told).toEqual(['refused'])
})

test('a stream over fetch tells each event once it is whole, and its end', async () => {
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
  const heard: string[] = []
  source.addEventListener('open', () => heard.push('open'))
  source.addEventListener('change', (event) => heard.push((event as MessageEvent<string>).data))

  await new Promise((over) => source.addEventListener('error', over))

  expect(heard).toEqual(['open', '{"a": 1}', '2'])
})
