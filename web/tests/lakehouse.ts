/** A small in-memory lineage service: two jobs, four datasets, and their column lineage. */

import type { Finding, Machine, TroubleCounts } from '../src/api/answers'
import type { Fetch } from '../src/api/client'
import type {
  ColumnLineage,
  Dataset,
  Direction,
  InputField,
  Neighbour,
  Run,
  Transformation,
  Verdict,
  WireColumn,
  WireEdge,
  WireNode,
} from '../src/api/types'
import { EMPTY_GRAPH, merge } from '../src/core/graph'
import { datasetId, jobId, type NodeId, type RunId } from '../src/core/ids'
import { neighboursIn } from '../src/core/neighbours'
import { litAtMost } from '../src/core/path'

export const CSV = datasetId('file', '/data/flights.csv')
export const FLIGHTS = datasetId('file', '/lake/raw/flights')
export const DELAYS = datasetId('file', '/lake/marts/delays')
export const REPORT = datasetId('file', '/out/report')
export const INGEST = jobId('demo', 'ingest')
export const AGGREGATE = jobId('demo', 'aggregate')

const IDENTITY = { type: 'DIRECT', subtype: 'IDENTITY', description: '', masking: false } as const
const AGGREGATION = { ...IDENTITY, subtype: 'AGGREGATION' }
const FILTER = { ...IDENTITY, type: 'INDIRECT', subtype: 'FILTER' } as const
const GROUP_BY = { ...FILTER, subtype: 'GROUP_BY' } as const

interface DatasetPlan {
  readonly fields: readonly string[]
  readonly table?: string
}

export interface JobPlan {
  readonly reads: readonly NodeId[]
  readonly writes: readonly NodeId[]
  readonly runs: readonly Run[]
  readonly partOf?: string
}

export function run(state: Run['state'], news: Partial<Run> = {}): Run {
  const signature = { verdict: 'ok' as Verdict, keyId: 'node:a#sha256:x', events: 2, verified: 2 }
  return {
    id: `run-${state}` as RunId,
    state,
    startedAt: '2026-01-02T03:04:05Z',
    endedAt: null,
    durationMs: 1_500,
    facets: {},
    counters: { recordsIn: 336_776, recordsOut: 16 },
    signature,
    ...news,
  }
}

export const DATASETS: Readonly<Record<NodeId, DatasetPlan>> = {
  [CSV]: { fields: ['carrier', 'arr_delay', 'tailnum'] },
  [FLIGHTS]: { fields: ['carrier', 'arr_delay', 'tailnum'], table: 'lake.raw.flights' },
  [DELAYS]: { fields: ['carrier', 'avg_arr_delay'], table: 'lake.marts.delays' },
  [REPORT]: { fields: ['carrier', 'avg_arr_delay'] },
}

export const JOBS: Readonly<Record<NodeId, JobPlan>> = {
  [INGEST]: { reads: [CSV], writes: [FLIGHTS], runs: [run('COMPLETED')] },
  [AGGREGATE]: {
    reads: [FLIGHTS],
    writes: [DELAYS, REPORT],
    runs: [run('COMPLETED', { id: 'run-2' as RunId })],
  },
}

/** Target dataset, column, and its sources. */
const COLUMNS: readonly (readonly [
  NodeId,
  string,
  readonly (readonly [NodeId, string, Transformation])[],
])[] = [
  ...['carrier', 'arr_delay', 'tailnum'].flatMap(
    (name) =>
      [
        [CSV, name, []],
        [FLIGHTS, name, [[CSV, name, IDENTITY]]],
      ] as const,
  ),
  ...[DELAYS, REPORT].flatMap(
    (mart) =>
      [
        [
          mart,
          'carrier',
          [
            [FLIGHTS, 'carrier', IDENTITY],
            [FLIGHTS, 'tailnum', FILTER],
          ],
        ],
        [
          mart,
          'avg_arr_delay',
          [
            [FLIGHTS, 'arr_delay', AGGREGATION],
            [FLIGHTS, 'carrier', GROUP_BY],
            [FLIGHTS, 'tailnum', FILTER],
          ],
        ],
      ] as const,
  ),
]

export function columnAnswer(): ColumnLineage {
  return {
    graph: COLUMNS.map(([target, field, sources]) => wireColumn(target, field, sources.map(inputField))),
    isCut: false,
  }
}

/** So many columns of the file, copied into the lake and on into a mart, which is grouped by all of them. */
export function wideAnswer(size: number): ColumnLineage {
  const names = namesOf(size)
  const copied = (target: NodeId, source: NodeId) =>
    names.map((name) => wireColumn(target, name, [inputField([source, name, IDENTITY])]))
  const begun = names.map((name) => wireColumn(CSV, name, []))
  const keys = names.map((name) => ({ ...inputField([FLIGHTS, name, GROUP_BY]), targetField: null }))
  return {
    graph: [...begun, ...copied(FLIGHTS, CSV), ...copied(DELAYS, FLIGHTS)],
    isCut: false,
    datasetInputFields: [{ ...placeOf(DELAYS), inputFields: keys }],
  }
}

/** So many columns of the lake, all of which together go into one column of a mart. */
export function wholeAnswer(size: number, column: string): ColumnLineage {
  const source = { ...inputField([FLIGHTS, '', { ...IDENTITY, subtype: 'TRANSFORMATION' }]), field: null }
  return {
    graph: [...namesOf(size).map((name) => wireColumn(FLIGHTS, name, [])), wireColumn(DELAYS, column, [])],
    isCut: false,
    datasetInputFields: [{ ...placeOf(DELAYS), inputFields: [{ ...source, targetField: column }] }],
  }
}

function namesOf(size: number): string[] {
  return Array.from({ length: size }, (_, n) => `c${n}`)
}

function wireColumn(dataset: NodeId, field: string, inputFields: readonly InputField[]): WireColumn {
  return { data: { ...placeOf(dataset), field, fieldType: 'string', inputFields } }
}

function inputField([source, field, transformation]: readonly [NodeId, string, Transformation]): InputField {
  return { ...placeOf(source), field, transformations: [transformation] }
}

function placeOf(dataset: NodeId): { namespace: string; dataset: string } {
  return { namespace: 'file', dataset: dataset.slice('dataset:file:'.length) }
}

export function datasetNode(id: NodeId, jobs: Readonly<Record<NodeId, JobPlan>> = JOBS): WireNode {
  const entries = Object.entries(jobs) as [NodeId, JobPlan][]
  const writers = entries.filter(([, { writes }]) => writes.includes(id))
  const readers = entries.filter(([, { reads }]) => reads.includes(id))
  const { fields: names = [], table } = DATASETS[id] ?? {}
  const fields = names.map((name) => ({
    name,
    type: 'string',
    description: name === 'tailnum' ? 'which plane' : null,
  }))
  const symlinks = table === undefined ? [] : [{ namespace: 'lake', name: table }]
  return {
    id,
    type: 'DATASET',
    data: { namespace: 'file', name: placeOf(id).dataset, description: null, fields, symlinks },
    inEdges: writers.map(([job]) => ({ origin: job, destination: id })),
    outEdges: readers.map(([job]) => ({ origin: id, destination: job })),
  }
}

export function jobNode(id: NodeId, jobs: Readonly<Record<NodeId, JobPlan>> = JOBS): WireNode {
  const { reads, writes, runs } = jobs[id] ?? { reads: [], writes: [], runs: [] }
  const [, namespace = '', name = ''] = /^job:([^:]*):(.*)$/.exec(id) ?? []
  const job = { namespace, name, description: null, type: 'BATCH' }
  return {
    id,
    type: 'JOB',
    data: { ...job, latestRun: runs[0] ?? null },
    inEdges: reads.map((origin): WireEdge => ({ origin, destination: id })),
    outEdges: writes.map((destination): WireEdge => ({ origin: id, destination })),
  }
}

export const GRAPH = merge(EMPTY_GRAPH, [
  ...[CSV, FLIGHTS, DELAYS, REPORT].map((id) => datasetNode(id)),
  ...[INGEST, AGGREGATE].map((id) => jobNode(id)),
])

/** Answers of the service. */
export const NODES = {
  nodes: [machine('centre', {}), { ...machine('edge-7', { missing: 2, replays: 1 }), unproved: 3 }],
  totalCount: 2,
}

function machine(nodeId: string, troubles: Partial<TroubleCounts>): Machine {
  const none = { missing: 0, forks: 0, broken: 0, replays: 0, dropped: 0, silentEpochs: 0, clockAhead: 0 }
  const times = { firstSeen: '2026-01-02T03:04:05Z', lastSeen: '2026-01-02T03:04:05Z' }
  return {
    nodeId,
    ...times,
    lastReceivedAt: '2026-01-02T03:04:05Z',
    events: 4,
    unproved: 0,
    epochs: 1,
    lastSequence: 5,
    heartbeatSeconds: 60,
    clockAheadMs: 0,
    troubles: { ...none, ...troubles },
  }
}

const HOLE = {
  kind: 'hole',
  words: 'events are missing',
  at: '2026-01-02T03:04:05Z',
  events: 2,
  first: 1,
  last: 2,
}

const DRIFT = {
  drift: [
    {
      nodeId: FLIGHTS,
      at: '2026-01-02T03:04:05Z',
      toldBy: { namespace: 'demo', name: 'ingest' },
      index: 9,
      digest: 'sha256:9',
      subject: null,
      breaking: true,
      changes: [
        {
          column: 'arr_delay',
          change: 'retyped',
          before: 'int',
          after: 'string',
          breaking: true,
          reaches: { columns: 1, datasets: 1, jobs: 1 },
          jobs: [AGGREGATE, 'job:far://h:1:reader'],
        },
      ],
    },
  ],
  totalCount: 1,
}

const ROOT_CAUSE = {
  run: {
    id: 'run-2',
    job: { namespace: 'demo', name: 'aggregate' },
    state: 'FAILED',
    startedAt: '2026-01-02T03:04:05Z',
  },
  summary: '',
  findings: [
    finding(1, 'flights: changed arr_delay from int to string', FLIGHTS, false),
    finding(2, 'a run of aggregate failed', AGGREGATE, true),
  ],
  lookedAt: [{}, {}],
  isCut: false,
}

function finding(rank: number, words: string, nodeId: NodeId, consequence: boolean): Finding {
  const events = [{ logIndex: 9, digest: 'sha256:9' }]
  return {
    rank,
    kind: 'schema-change',
    words,
    nodeId,
    at: '2026-01-02T03:04:05Z',
    consequence,
    events,
    path: [],
  }
}

const CHANGES = {
  changes: [
    {
      change: 'changed',
      kind: 'column',
      nodeId: `datasetField:${FLIGHTS.slice('dataset:'.length)}:arr_delay`,
      origin: null,
      destination: null,
      facet: null,
      before: 'int',
      after: 'long',
      event: {
        index: 7,
        digest: 'b7',
        eventTime: '2026-01-02T03:04:05Z',
        eventType: 'COMPLETE',
        runId: 'run-1',
        job: placeOf(INGEST),
      },
    },
  ],
  totalCount: 1,
}

function impact(isDrop: boolean): Answer {
  const breaking = isDrop || null
  const owners = [{ name: 'team:finance', type: null }]
  const delays = { ...placeOf(DELAYS), name: '/lake/marts/delays' }
  const job = { namespace: 'demo', name: 'aggregate' }
  const rest = { distance: 1, breaking, reason: null }
  return {
    breaking,
    summary: 'reaches 1 column',
    reached: [
      { ...delays, ...rest, type: 'DATASET_FIELD', field: 'avg_arr_delay', owners },
      { ...delays, ...rest, type: 'DATASET', field: null, owners },
      { ...job, ...rest, type: 'JOB', field: null, owners: [] },
    ],
    totalCount: 3,
  }
}

export interface Service {
  readonly fetch: Fetch
  /** The current jobs; a test changes them and then reports a change. */
  jobs: Readonly<Record<NodeId, JobPlan>>
  /** If set, every request is answered with this status. */
  broken: number | undefined
  /** If set, requests for this route fail. */
  failing: string | undefined
  /** The caller is forbidden these routes. */
  forbidden: readonly string[]
  /** Readers that are not in the lineage of other nodes. */
  farReaders: Readonly<Record<NodeId, readonly Neighbour[]>>
  /** Nodes that are on no path although a job reads or writes them, as if column lineage excluded them. */
  offPath: readonly NodeId[]
  /** Datasets that are shown under another name. */
  aliases: Readonly<Record<NodeId, NodeId>>
  /** The column lineage of every dataset. */
  columns: ColumnLineage
  /** What the answer about a dataset has in addition to its schema. */
  extra: Partial<Dataset>
  /** The answer to every request for a root cause. */
  rootCause: Answer
  /** The silent streams. */
  silent: Answer
  /** The checkpoint of the log, and the newest that a witness signed. */
  checkpoint: string
  witnessed: string | undefined
  /** The values of `asOf` in requests. */
  readonly times: Set<string | null>
  /** The starts of the periods in requests for changes. */
  readonly since: Set<string>
  /** If set, lineage, or column lineage, is answered only after this. */
  delay: Promise<void> | undefined
  columnDelay: Promise<void> | undefined
  /** The depths in requests for lineage, in order. */
  readonly depths: string[]
  /** The paths of all requests, in order. */
  readonly requests: string[]
}

export function lakehouse(jobs: Readonly<Record<NodeId, JobPlan>> = JOBS): Service {
  const service: Service = {
    jobs,
    broken: undefined,
    failing: undefined,
    forbidden: [],
    farReaders: {},
    offPath: [],
    aliases: {},
    columns: columnAnswer(),
    extra: { tags: ['gold'], facets: FACETS },
    rootCause: ROOT_CAUSE,
    silent: SILENT,
    checkpoint: 'lineage.example.org\n20\ncm9vdA==\n\n— lineage.example.org AAAA\n',
    witnessed: undefined,
    times: new Set(),
    since: new Set(),
    delay: undefined,
    columnDelay: undefined,
    depths: [],
    requests: [],
    fetch: async (url) => {
      const { pathname, searchParams } = new URL(url, 'http://lakehouse')
      service.requests.push(decodeURIComponent(pathname + (searchParams.get('nodeId') ?? '')))
      if (!pathname.endsWith('/log/checkpoint')) service.times.add(searchParams.get('asOf'))
      const since = searchParams.get('from')
      if (since !== null) service.since.add(since)
      if (pathname.endsWith('/lineage')) {
        service.depths.push(searchParams.get('depth') ?? '')
        await service.delay
      }
      if (pathname.endsWith('/column-lineage')) await service.columnDelay
      if (service.broken) return json({ code: service.broken, message: 'The disk is full.' }, service.broken)
      if (service.failing && pathname.endsWith(`/${service.failing}`)) return json({ message: 'No.' }, 500)
      if (service.forbidden.some((route) => pathname.endsWith(`/${route}`)))
        return json({ message: 'May not.' }, 403)
      if (pathname.includes('/log/entries/')) return new Response(ENTRY)
      if (pathname.endsWith('/log/checkpoint')) return head(service, searchParams.has('witnesses'))
      const body = answer(service, decodeSegments(pathname), searchParams)
      return body === undefined ? json({ code: 404, message: 'Nothing by that name.' }, 404) : json(body, 200)
    },
  }
  return service
}

function head({ checkpoint, witnessed }: Service, isWitnessed: boolean): Response {
  if (!isWitnessed) {
    const size = witnessed?.split('\n')[1] ?? '0'
    return new Response(checkpoint, { headers: { 'Headwater-Witnessed-Size': size } })
  }
  if (witnessed) return new Response(witnessed)
  return json({ code: 404, message: 'No witness has signed a head of this log.' }, 404)
}

type Answer = Readonly<Record<string, unknown>> | undefined

function answer(
  { jobs, offPath, farReaders, aliases, columns, extra, rootCause, silent }: Service,
  path: readonly string[],
  query: URLSearchParams,
): Answer {
  const node = query.get('nodeId') as NodeId | null
  const names = Object.keys(jobs) as NodeId[]
  switch (path[0]) {
    case 'jobs':
      if (path[1] === 'runs') return { events: eventsOf(jobs, path[2] as RunId) }
      return jobsIn(jobs, query)
    case 'silent-streams':
      return silent
    case 'lineage':
      return node ? lineage(jobs, aliases[node] ?? node, Number(query.get('depth'))) : undefined
    case 'path':
      return node ? pathOf(jobs, node, offPath) : undefined
    case 'neighbours':
      return node ? neighbours(jobs, node, farReaders[node] ?? [], query) : undefined
    case 'containment':
      return node ? containment(jobs, node, query) : undefined
    case 'identity':
      return node ? identity(aliases[node]) : undefined
    case 'column-lineage':
      return { ...columns }
    case 'summary':
      return { events: { stored: names.flatMap((id) => jobs[id]?.runs ?? []).length } }
    case 'log':
      return { size: 20, leafHash: 'sha256:leaf', rootHash: 'sha256:root' }
    case 'nodes':
      return path[1] === undefined ? NODES : machineAnswer(path[1])
    case 'drift':
      return DRIFT
    case 'root-cause':
      return rootCause
    case 'diff':
      return CHANGES
    case 'coverage':
      return coverage(query)
    case 'quality':
      return { timeline: node ? (QUALITY[node] ?? []) : [], totalCount: 0 }
    case 'impact':
      return impact(query.get('change') === 'drop')
    case 'search':
      return { totalCount: 0, results: [] }
    case 'datasets':
      return page('datasets', allDatasets(), query)
    case 'namespaces':
      if (path[1] === undefined) return page('namespaces', NAMESPACES, query)
      if (path[3] === undefined && path[2] === 'jobs')
        return path[1] === 'demo' ? jobsIn(jobs, query) : NO_JOBS
      if (path[3] === undefined)
        return page(
          'datasets',
          allDatasets().filter(({ namespace }) => namespace === path[1]),
          query,
        )
      if (path[2] !== 'jobs') return { ...datasetBy(path[3]), ...extra }
      return path[4] === 'runs'
        ? runsOf(jobs, jobId('demo', path[3] ?? ''), Number(query.get('limit')))
        : jobBy(jobs, jobId('demo', path[3] ?? ''))
    default:
      return undefined
  }
}

function machineAnswer(id: string): Answer {
  const found = NODES.nodes.find(({ nodeId }) => nodeId === id)
  return found && { ...found, ofEpochs: [], listed: [{ ...HOLE, epoch: 'e1' }], listedCount: 1 }
}

/** Jobs within `depth` jobs of the node, upstream and downstream, with all that they read and write. */
function lineage(jobs: Service['jobs'], start: NodeId, depth: number): Answer {
  const isRead = Object.values(jobs).some(({ reads }) => reads.includes(start))
  if (!jobs[start] && !DATASETS[start] && !isRead) return undefined
  const most = 2 * depth + 1 // edges: one into a job and one out of it
  const steps = new Map<NodeId, number>([[start, 0]])
  const found: WireNode[] = []
  for (const [id, distance] of steps) {
    const node = jobs[id] ? jobNode(id, jobs) : datasetNode(id, jobs)
    found.push(node)
    if (distance === most) continue
    for (const end of [...node.inEdges, ...node.outEdges].flatMap(({ origin, destination }) => [
      origin,
      destination,
    ]))
      if (!steps.has(end)) steps.set(end, distance + 1)
  }
  return { graph: found }
}

function pathOf(jobs: Service['jobs'], start: NodeId, offPath: readonly NodeId[]): Answer {
  const { edges } = litAtMost(merge(EMPTY_GRAPH, allNodes(jobs)), start)
  return {
    edges: edges.filter(
      ({ origin, destination }) => ![origin, destination].some((end) => offPath.includes(end)),
    ),
    isCut: false,
  }
}

function neighbours(
  jobs: Service['jobs'],
  node: NodeId,
  farReaders: readonly Neighbour[],
  query: URLSearchParams,
): Answer {
  const [direction, type] = [query.get('way') as Direction, query.get('type') as WireNode['type']]
  const known = neighboursIn(merge(EMPTY_GRAPH, allNodes(jobs)), node, direction, type)
  const more = direction === 'downstream' && type === 'JOB' ? farReaders : []
  return page('neighbours', [...known, ...more], query)
}

function allNodes(jobs: Service['jobs']): WireNode[] {
  const ids = Object.keys(jobs) as NodeId[]
  const datasets = new Set(ids.flatMap((id) => [...(jobs[id]?.reads ?? []), ...(jobs[id]?.writes ?? [])]))
  return [...ids.map((id) => jobNode(id, jobs)), ...[...datasets].map((id) => datasetNode(id, jobs))]
}

function page(name: string, items: readonly unknown[], query: URLSearchParams): Record<string, unknown> {
  const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))]
  return { [name]: items.slice(offset, offset + limit), totalCount: items.length }
}

function jobsIn(jobs: Service['jobs'], query: URLSearchParams): Answer {
  const state = query.get('lastRunStates')
  const ids = (Object.keys(jobs) as NodeId[]).filter((id) => !state || jobs[id]?.runs[0]?.state === state)
  return {
    jobs: ids
      .slice(Number(query.get('offset')), Number(query.get('offset')) + Number(query.get('limit')))
      .map((id) => ({ ...jobNode(id, jobs).data, latestRuns: jobs[id]?.runs })),
    totalCount: ids.length,
  }
}

function coverage(query: URLSearchParams): Answer {
  const kind = query.get('kind')
  const none = {
    runsWithoutStart: 0,
    runsWithoutEnd: 0,
    extractionErrors: 0,
    unreadOperators: 0,
    silentStreams: 0,
  }
  const gaps = { ...none, quarantinedNames: 40, edgesWithoutColumns: 0, datasetsWithoutSchema: 0 }
  const listed = Array.from({ length: 40 }, (_, place) => ({
    nodeId: 'run:run-2',
    namespace: 'demo',
    words: `input '${place === 0 ? 'nameless' : `nameless-${place}`}' has no namespace`,
    at: '2026-01-02T03:04:05Z',
    related: [[AGGREGATE], ['job:demo:odd:one', 'dataset:far://h:1:db.table']][place] ?? [],
  }))
  if (kind === 'silent-stream' || kind === 'run-without-end') return SILENCES[kind]
  return {
    total: { gaps, signatures: { events: 20, verified: 18 } },
    ...page('gaps', kind === null ? [] : listed, query),
  }
}

const QUALITY: Readonly<Record<NodeId, readonly Answer[]>> = {
  [DELAYS]: [
    {
      at: '2026-01-02T03:04:05Z',
      run: 'run-2',
      direction: 'output',
      passed: false,
      assertions: [
        { assertion: 'not_null', column: 'carrier', success: false },
        { assertion: 'unique', column: 'carrier', success: true },
      ],
      tests: [],
    },
    {
      at: '2026-01-01T03:04:05Z',
      run: 'run-1',
      direction: 'output',
      passed: null,
      assertions: [],
      tests: [],
    },
  ],
  [AGGREGATE]: [
    {
      at: '2026-01-02T03:05:05Z',
      run: 'run-3',
      direction: null,
      passed: false,
      assertions: [],
      tests: [
        { name: 'no_orphans', status: 'fail' },
        { name: 'fresh', status: 'pass' },
        { name: 'volume', status: 'skip' },
      ],
    },
  ],
}

const SILENT = {
  silentStreams: [
    {
      job: { namespace: 'demo', name: 'live' },
      run: 'run-9',
      lastHeard: '2026-01-02T03:04:05Z',
      windowSeconds: 60,
    },
  ],
  totalCount: 1,
}

const silence = (job: string, run: string, words: string) => ({
  nodeId: `run:${run}`,
  namespace: 'demo',
  words: `${job} ${words}`,
  at: '2026-01-02T03:04:05Z',
  related: [`job:demo:${job}`],
})

const SILENCES = {
  'silent-stream': {
    gaps: [silence('live', 'run-9', 'is silent'), silence('tail', 'run-10', 'runs on and is silent')],
    totalCount: 2,
  },
  'run-without-end': { gaps: [silence('stuck', 'run-11', 'has reported no end')], totalCount: 1 },
}

function containment(jobs: Service['jobs'], id: NodeId, query: URLSearchParams): Answer {
  const named = (name: string) => ({ namespace: 'demo', name })
  const whole = jobs[id]?.partOf
  const parts = (Object.keys(jobs) as NodeId[]).filter((job) => jobId('demo', jobs[job]?.partOf ?? '') === id)
  return {
    partOf: whole === undefined ? null : named(whole),
    ...page(
      'parts',
      parts.map((job) => named(job.slice('job:demo:'.length))),
      query,
    ),
  }
}

function identity(shown: NodeId | undefined): Answer {
  if (shown === undefined) return undefined
  const { namespace, dataset } = placeOf(shown)
  return { shown: { namespace, name: dataset } }
}

const FACETS = { ownership: { owners: [{ name: 'team:lake', type: 'OWNER' }] } }

const NAMESPACES = ['demo', 'file', 'gone'].map((name) => ({ name, isHidden: name === 'gone' }))
const NO_JOBS = { jobs: [], totalCount: 0 }

function allDatasets(): Dataset[] {
  const ids = Object.keys(DATASETS) as NodeId[]
  return ids.map((id) => ({ ...(datasetNode(id).data as Dataset), updatedAt: '2026-01-02T03:04:05Z' }))
}

function datasetBy(name: string | undefined): Answer {
  const found = allDatasets().find((dataset) => dataset.name === name)
  const fields = found?.fields.map((field) => ({
    ...field,
    tags: field.name === 'carrier' ? ['public'] : [],
    fields: field.name === 'tailnum' ? [{ name: 'prefix', type: 'char', description: null }] : [],
  }))
  return { ...found, fields }
}

function jobBy(jobs: Service['jobs'], id: NodeId): Answer {
  return { ...jobNode(id, jobs).data, tags: ['nightly'], facets: { ...FACETS, sql: { query: 'SELECT 1' } } }
}

/** With a number too large for JavaScript, which must be shown as received. */
export const RAW_EVENT = '{"eventType":"START","big":12345678901234567890}'

const ENTRY = `{"index":9,"eventType":"START","eventTime":"2026-01-02T03:04:05Z","receivedAt":"2026-01-02T03:04:06Z","digest":"sha256:9","verdict":"ok","keyId":"node:a","event":${RAW_EVENT}}`

function runsOf(jobs: Service['jobs'], job: NodeId, limit: number): Answer {
  const runs = jobs[job]?.runs
  return runs && { runs: runs.slice(0, limit), totalCount: runs.length }
}

function eventsOf(jobs: Service['jobs'], id: RunId): readonly unknown[] {
  const found = Object.values(jobs).flatMap(({ runs }) => runs.filter((run) => run.id === id))
  return found.flatMap(({ signature }) =>
    ['START', 'COMPLETE'].map((eventType, index) => ({
      index,
      eventType,
      eventTime: '2026-01-02T03:04:05Z',
      receivedAt: '2026-01-02T03:04:05Z',
      digest: `sha256:${index}`,
      verdict: signature?.verdict,
      keyId: signature?.keyId,
    })),
  )
}

function decodeSegments(pathname: string): string[] {
  return pathname.split('/').slice(3).map(decodeURIComponent)
}

function json(body: unknown, status: number): Response {
  return new Response(JSON.stringify(body), { status })
}
