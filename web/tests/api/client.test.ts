import { expect, test } from 'vitest'
import { Client, type Fetch, ServiceError } from '../../src/api/client'
import { datasetId, type NodeId } from '../../src/core/ids'

const NEVER = new AbortController().signal

function answering(body: unknown, status = 200): { fetch: Fetch; requested: string[] } {
  const requested: string[] = []
  const fetch: Fetch = async (url) => {
    requested.push(url)
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })
  }
  return { fetch, requested }
}

test('names are escaped in paths and parameters', async () => {
  const { fetch, requested } = answering({ graph: [] })
  const client = new Client(fetch, 'api/v1')

  await client.dataset({ namespace: 's3://lake', name: 'a/b?c#d' })
  await client.lineage(datasetId('s3://lake', 'a&b'))

  expect(requested).toEqual([
    'api/v1/namespaces/s3%3A%2F%2Flake/datasets/a%2Fb%3Fc%23d',
    'api/v1/lineage?nodeId=dataset%3As3%3A%2F%2Flake%3Aa%26b&depth=20',
  ])
})

test('a response that is not from the service, such as a captive portal, is reported as that', async () => {
  const { fetch } = answering('<h1>Sign in</h1>')
  const client = new Client(fetch, 'api/v1')

  for (const asking of [client.failureCount(), client.entry(1), client.inclusion(1)])
    await expect(asking).rejects.toMatchObject({
      name: 'ServiceError',
      message: 'The response is not from the lineage service, or incomplete.',
    })
})

test.each(['.', '..', '..;', 'a/b'])('no browser takes the name %j for a step of the path', async (name) => {
  const { fetch, requested } = answering({ runs: [], totalCount: 0 })
  const client = new Client(fetch, 'api/v1')

  await client.job({ namespace: 'n', name })
  await client.dataset({ namespace: name, name })
  await client.runs({ namespace: 'n', name }, 1)

  const paths = requested.map((path) => new URL(path, 'http://localhost').pathname.split('/'))
  expect(paths.map((steps) => steps.length)).toEqual([7, 7, 8])
})

test('column lineage is requested in both directions', async () => {
  const { fetch, requested } = answering({ graph: [] })

  await new Client(fetch, 'api/v1').columnLineage(datasetId('n', 'd'), NEVER)

  expect(requested).toEqual(['api/v1/column-lineage?nodeId=dataset%3An%3Ad&depth=20&withDownstream=true'])
})

test('column lineage has the graph, and the sources listed per dataset', async () => {
  const graph = [{ data: { namespace: 'n', dataset: 'd', field: 'a', fieldType: '', inputFields: [] } }]
  const datasetInputFields = [{ namespace: 'n', dataset: 'd', inputFields: [] }]

  const bodies = [{ graph }, { graph, datasetInputFields }]

  const answers = bodies.map((body) =>
    new Client(answering(body).fetch, 'api/v1').columnLineage(
      datasetId('n', 'd'),
      new AbortController().signal,
    ),
  )

  expect(await Promise.all(answers)).toEqual(bodies)
})

test('an error has the message of the service and the status', async () => {
  const { fetch } = answering({ code: 404, message: "Job 'nope' not found." }, 404)

  const asking = new Client(fetch, 'api/v1').jobs(1)

  await expect(asking).rejects.toEqual(new ServiceError("Job 'nope' not found.", 404))
})

test('an invalid time in the address is reported in terms of the page', async () => {
  const message =
    'query param asOf cannot be read: expected a time with its zone such as 2026-05-22T14:23:11Z'
  const { fetch } = answering({ code: 400, message }, 400)

  const asking = new Client(fetch, 'api/v1', 'last Tuesday').jobs(1)

  await expect(asking).rejects.toThrow(
    /^Invalid time in the address: “last Tuesday”. .* “as of” above, or .*Z$/,
  )
})

test.each([400, 404])(
  'what is no node, and what no node is known by (%i), is shown as it is',
  async (status) => {
    const { fetch } = answering({ code: status, message: "nodeId: expected …, found 'foo'" }, status)

    expect(await new Client(fetch, 'api/v1').shownId('foo' as NodeId)).toBe('foo')
  },
)

test.each(['', '<html>', '{}', '[]', '{"message": 7}'])(
  'an error of the body %j names the status',
  async (body) => {
    const { fetch } = answering(body, 502)

    await expect(new Client(fetch, 'api/v1').storedEvents()).rejects.toThrow(
      'The lineage service answered 502.',
    )
  },
)

test('a missing response is reported in a sentence', async () => {
  const fetch: Fetch = () => Promise.reject(new TypeError('fetch failed'))

  await expect(new Client(fetch, 'api/v1').search('x', 1, NEVER)).rejects.toThrow('does not answer')
})

test('the witnessed checkpoint is requested if the service does not say whether there is one', async () => {
  const text = 'lineage.example.org\n18\ncm9vdA==\n\n— lineage.example.org AAAA\n'
  const fetch: Fetch = async () => new Response(text)

  expect((await new Client(fetch, 'api/v1').heads()).map((head) => head?.size)).toEqual([18, 18])
})

test('an entry of the log has its event byte for byte, whatever its content', async () => {
  const raw = '{"a": 1.0, "event":{"b":[12345678901234567890]} }'
  const fetch = async () => new Response(`{"index":7,"digest":"sha256:7","keyId":null,"event":${raw}}`)

  expect(await new Client(fetch, 'api/v1').entry(7)).toMatchObject({ index: 7, digest: 'sha256:7', raw })
})

test.each([
  [200, 5],
  [403, 3],
])('failures are counted where silent streams are answered with %i', async (status, count) => {
  const fetch = async (url: string) =>
    url.includes('silent-streams')
      ? new Response(JSON.stringify({ silentStreams: [], totalCount: 2 }), { status })
      : new Response(JSON.stringify({ jobs: [], totalCount: 3 }))

  expect(await new Client(fetch, 'api/v1').failureCount()).toBe(count)
})
