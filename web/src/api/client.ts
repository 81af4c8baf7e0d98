/** The client of the service's API. Every failure is a `ServiceError` with a message for the reader. */

import { type Checkpoint, readCheckpoint } from '../core/checkpoint'
import { MAX_STEPS } from '../core/columns'
import type { Named } from '../core/ids'
import { datasetId, type NodeId, type RunId } from '../core/ids'
import type {
  Change,
  Containment,
  Coverage,
  GapKind,
  Impact,
  KnownGap,
  Machine,
  MachineDetail,
  QualityPoint,
  RootCause,
  SchemaDrift,
  SilentStream,
} from './answers'
import { type Page, paged } from './paged'
import type {
  ColumnLineage,
  Dataset,
  Direction,
  InclusionProof,
  Job,
  LogEntry,
  Namespace,
  Neighbour,
  Path,
  Run,
  RunEvent,
  RunState,
  SearchResult,
  WireNode,
} from './types'

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  /** Undefined if there was no response. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

export type Fetch = (url: string, init?: { signal?: AbortSignal }) => Promise<Response>

/** In hops; more than most lineage has. */
const DEPTH = 20
/** Only a node and its neighbours; of the neighbours' edges only some are in the answer. */
const NEIGHBOURS_ONLY = 0

export class Client {
  readonly #fetch: Fetch
  readonly #base: string
  readonly #asOf: string | undefined

  /** `base`: where the service's routes begin, for example `api/v1`; `asOf`: sent with each request, undefined for now. */
  constructor(fetch: Fetch, base: string, asOf?: string) {
    this.#fetch = fetch
    this.#base = base
    this.#asOf = asOf
  }

  /** The first `limit` jobs. */
  async jobs(limit: number): Promise<Page<Job>> {
    return this.#jobs('jobs', { limit })
  }

  /** The first `count` jobs whose newest run failed, the last reported first. */
  async failedJobs(count: number): Promise<Page<Job>> {
    return this.listedJobs(undefined, 'FAILED', count)
  }

  /** The first `count` jobs of a namespace, or of all, the last reported first; with `state`, those whose newest run is in it. */
  async listedJobs(
    namespace: string | undefined,
    state: RunState | undefined,
    count: number,
  ): Promise<Page<Job>> {
    return paged(count, (limit, offset) =>
      this.#jobs(listOf('jobs', namespace), { ...(state && { lastRunStates: state }), limit, offset }),
    )
  }

  /** The first `count` datasets of a namespace, or of all, by namespace and name. */
  async datasets(namespace: string | undefined, count: number): Promise<Page<Dataset>> {
    const path = listOf('datasets', namespace)
    const items = ({ datasets }: { datasets: Dataset[] }) => datasets
    return paged(count, (limit, offset) => this.#page(path, { limit, offset }, items))
  }

  /** The first `limit` namespaces, by name; deleted ones are marked as hidden. */
  async namespaces(limit: number): Promise<Page<Namespace>> {
    return this.#page('namespaces', { limit }, ({ namespaces }: { namespaces: Namespace[] }) => namespaces)
  }

  /** The first `count` silent streams, the longest silent first. */
  async silentStreams(count: number): Promise<Page<SilentStream>> {
    return paged(count, (limit, offset) => this.#silentStreams(limit, offset))
  }

  /** The number of jobs whose newest run failed, plus silent streams if the caller may see them. */
  async failureCount(): Promise<number> {
    const [failed, silent] = await Promise.all([
      this.#jobs('jobs', { lastRunStates: 'FAILED', limit: 0, offset: 0 }),
      this.#silentStreams(0, 0).catch(undefinedIfForbidden),
    ])
    return failed.totalCount + (silent?.totalCount ?? 0)
  }

  /** The jobs and datasets around a node, both ways. */
  async lineage(node: NodeId): Promise<readonly WireNode[]> {
    return this.#lineage(node, DEPTH)
  }

  /** A node with all of its edges, and its neighbours with some of theirs. */
  async withNeighbours(node: NodeId): Promise<readonly WireNode[]> {
    return this.#lineage(node, NEIGHBOURS_ONLY)
  }

  /** The edges upstream and downstream of a job or dataset. */
  async path(node: NodeId, signal: AbortSignal): Promise<Path> {
    return this.#get(`path?${query({ nodeId: node, depth: DEPTH })}`, signal)
  }

  /** The first `count` jobs, or datasets, directly upstream or downstream of a node, by name. */
  async neighbours(
    node: NodeId,
    direction: Direction,
    type: WireNode['type'],
    count: number,
  ): Promise<Page<Neighbour>> {
    const asked = { nodeId: node, way: direction, type }
    const items = ({ neighbours }: { neighbours: Neighbour[] }) => neighbours
    return paged(count, (limit, offset) => this.#page('neighbours', { ...asked, limit, offset }, items))
  }

  /** The id that the service shows a node under, which may be an alias's; the same id if it is unknown. */
  async shownId(node: NodeId): Promise<NodeId> {
    const request = this.#get<{ shown: Named }>(`identity?${query({ nodeId: node })}`)
    const identity = await request.catch((error: unknown) =>
      isBadRequest(error) ? undefined : undefinedIfNotFound(error),
    )
    return identity ? datasetId(identity.shown.namespace, identity.shown.name) : node
  }

  /** The column lineage of all columns of a dataset, upstream and downstream. */
  async columnLineage(dataset: NodeId, signal: AbortSignal): Promise<ColumnLineage> {
    return this.#get(
      `column-lineage?${query({ nodeId: dataset, depth: MAX_STEPS, withDownstream: true })}`,
      signal,
    )
  }

  async job({ namespace, name }: Named): Promise<Job> {
    return this.#get(`namespaces/${segment(namespace)}/jobs/${segment(name)}`)
  }

  async dataset({ namespace, name }: Named): Promise<Dataset> {
    return this.#get(`namespaces/${segment(namespace)}/datasets/${segment(name)}`)
  }

  /** The first `count` runs of a job, newest first. */
  async runs({ namespace, name }: Named, count: number): Promise<Page<Run>> {
    const path = `namespaces/${segment(namespace)}/jobs/${segment(name)}/runs`
    const items = ({ runs }: { runs: Run[] }) => runs
    return paged(count, (limit, offset) => this.#page(path, { limit, offset }, items))
  }

  /** A job's parent, and its first `count` parts by name. */
  async containment(job: NodeId, count: number): Promise<Containment> {
    let partOf: Containment['partOf'] = null
    const { items, totalCount } = await paged(count, async (limit, offset) => {
      const found = await this.#get<Containment>(`containment?${query({ nodeId: job, limit, offset })}`)
      partOf = found.partOf
      return { items: found.parts, totalCount: found.totalCount }
    })
    return { partOf, parts: items, totalCount }
  }

  async runEvents(run: RunId): Promise<readonly RunEvent[]> {
    return (await this.#get<{ events: RunEvent[] }>(`jobs/runs/${segment(run)}/events`)).events
  }

  async search(text: string, limit: number, signal: AbortSignal): Promise<readonly SearchResult[]> {
    const path = `search?${query({ q: text, limit })}`
    return (await this.#get<{ results: SearchResult[] }>(path, signal)).results
  }

  /** The first `limit` machines, by name. */
  async machines(limit: number): Promise<Page<Machine>> {
    return this.#page('nodes', { limit }, ({ nodes }: { nodes: Machine[] }) => nodes)
  }

  /** A machine, with the newest `limit` of its epochs and of its troubles. */
  async machine(id: string, limit: number): Promise<MachineDetail> {
    return this.#get(`nodes/${segment(id)}?${query({ limit })}`)
  }

  /** The log's current checkpoint, whatever `asOf` is; and the newest that a witness signed, if any. */
  async heads(): Promise<readonly [head: Checkpoint, witnessed: Checkpoint | undefined]> {
    const response = await answer(this.#fetch, this.checkpointUrl)
    const head = await readHead(response)
    if (response.headers.get(WITNESSED) === '0') return [head, undefined] // else the browser's console would show a 404
    const request = answer(this.#fetch, `${this.checkpointUrl}?witnesses=1`).then(readHead)
    return [head, await request.catch(undefinedIfNotFound)]
  }

  /** An entry of the log, whatever `asOf` is: entries never change. */
  async entry(index: number): Promise<LogEntry> {
    const response = await answer(this.#fetch, `${this.#base}/log/entries/${index}`)
    const { text, parsed } = await read<RunEvent>(response)
    return { ...parsed, raw: text.slice(text.indexOf(EVENT) + EVENT.length, text.lastIndexOf('}')) }
  }

  /** The proof that the entry is included in the current log. */
  async inclusion(index: number): Promise<InclusionProof> {
    return json(await answer(this.#fetch, this.inclusionUrl(index)))
  }

  /** For readers who want to verify the proof. */
  inclusionUrl(index: number): string {
    return `${this.#base}/log/proof/inclusion?${query({ index })}`
  }

  /** For readers who want to keep the checkpoint. */
  get checkpointUrl(): string {
    return `${this.#base}/log/checkpoint`
  }

  /** The newest `limit` changes of schemas. */
  async drift(limit: number): Promise<Page<SchemaDrift>> {
    return this.#page('drift', { limit }, ({ drift }: { drift: SchemaDrift[] }) => drift)
  }

  /** Why a dataset, one of its columns, or the output of a job may be wrong. */
  async rootCause(node: NodeId, column: string | undefined, signal: AbortSignal): Promise<RootCause> {
    const subject = { nodeId: node, ...(column === undefined ? {} : { column }) }
    return this.#get(`root-cause?${query(subject)}`, signal)
  }

  /** What depends on a dataset or one of its columns; `isDrop`: also what breaks if it is dropped. */
  async impact(
    dataset: NodeId,
    column: string | undefined,
    isDrop: boolean,
    limit: number,
    signal: AbortSignal,
  ): Promise<Impact> {
    const options = { ...(column === undefined ? {} : { column }), ...(isDrop ? { change: 'drop' } : {}) }
    return this.#get(`impact?${query({ nodeId: dataset, ...options, limit })}`, signal)
  }

  /** The first `limit` changes to a job or dataset since a time. */
  async changes(node: NodeId, since: string, limit: number, signal: AbortSignal): Promise<Page<Change>> {
    const parameters = {
      nodeId: node,
      from: since,
      ...(this.#asOf === undefined ? {} : { to: this.#asOf }),
      limit,
    }
    return this.#page('diff', parameters, ({ changes }: { changes: Change[] }) => changes, signal)
  }

  /** The counts of known gaps and of signed events. */
  async coverage(): Promise<Coverage> {
    return this.#get(`coverage?${query({ limit: 0 })}`)
  }

  /** The newest `count` gaps of a kind. */
  async gaps(kind: GapKind, count: number): Promise<Page<KnownGap>> {
    const items = ({ gaps }: { gaps: KnownGap[] }) => gaps
    return paged(count, (limit, offset) => this.#page('coverage', { kind, limit, offset }, items))
  }

  /** The last assertions and measurements of a dataset, or tests of a job, newest first. */
  async quality(node: NodeId, limit: number): Promise<readonly QualityPoint[]> {
    return (await this.#get<{ timeline: QualityPoint[] }>(`quality?${query({ nodeId: node, limit })}`))
      .timeline
  }

  /** The number of stored events. */
  async storedEvents(): Promise<number> {
    return (await this.#get<{ events: { stored: number } }>('summary')).events.stored
  }

  async #jobs(path: string, parameters: Parameters): Promise<Page<Job>> {
    return this.#page(path, parameters, ({ jobs }: { jobs: Job[] }) => jobs)
  }

  async #silentStreams(limit: number, offset: number): Promise<Page<SilentStream>> {
    const items = ({ silentStreams }: { silentStreams: SilentStream[] }) => silentStreams
    return this.#page('silent-streams', { limit, offset }, items)
  }

  async #lineage(node: NodeId, depth: number): Promise<readonly WireNode[]> {
    return (await this.#get<{ graph: WireNode[] }>(`lineage?${query({ nodeId: node, depth })}`)).graph
  }

  async #page<A, T>(
    path: string,
    parameters: Parameters,
    items: (answer: A) => readonly T[],
    signal?: AbortSignal,
  ): Promise<Page<T>> {
    const answer = await this.#get<A & { totalCount: number }>(`${path}?${query(parameters)}`, signal)
    return { items: items(answer), totalCount: answer.totalCount }
  }

  async #get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const asOf = this.#asOf && `${path.includes('?') ? '&' : '?'}${query({ asOf: this.#asOf })}`
    const request = answer(this.#fetch, `${this.#base}/${path}${asOf ?? ''}`, signal)
    const response = await request.catch((error: unknown) => {
      throw isInvalidTime(error) ? new ServiceError(invalidTimeText(this.#asOf), error.status) : error
    })
    return json(response)
  }
}

/** Precedes an entry's event, which is the last member: cut out as text, since parsing would lose the digested bytes. */
const EVENT = '"event":'

/** The header with the log size of the newest checkpoint that a witness signed. */
const WITNESSED = 'Headwater-Witnessed-Size'

async function readHead(response: Response): Promise<Checkpoint> {
  const found = readCheckpoint(await response.text())
  if (!found) throw new ServiceError('The lineage service answered with an invalid log checkpoint.')
  return found
}

function isInvalidTime(error: unknown): error is ServiceError {
  return isBadRequest(error) && error.message.startsWith('query param asOf ')
}

/** In the page's terms: the service's message names a parameter that the reader does not know. */
function invalidTimeText(asOf: string | undefined): string {
  return (
    `Invalid time in the address: “${asOf}”. Choose a time with “as of” above, ` +
    'or end the address with a time and its zone: ?asOf=2026-05-22T14:23:11Z'
  )
}

/** Whether the service did not respond, or a gateway in front of it reported that: a retry may help. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === undefined || GATEWAY.has(error.status))
}

/** Source: RFC 9110, 15.6.3 to 15.6.5 */
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** Whether the request itself is invalid: a retry cannot help. */
export function isBadRequest(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 400
}

/** For requests that a 404 answers, too. */
export function undefinedIfNotFound(error: unknown): undefined {
  return undefinedIf(404, error)
}

/** For data that not every caller may see. */
export function undefinedIfForbidden(error: unknown): undefined {
  return undefinedIf(403, error)
}

function undefinedIf(status: number, error: unknown): undefined {
  if (error instanceof ServiceError && error.status === status) return undefined
  throw error
}

/**
 * A name as one segment of a path. Browsers resolve `.` and `..`, percent-encoded too; with a semicolon appended they
 * do not, and the service accepts that. Source: URL Standard, double-dot URL path segment
 */
function segment(name: string): string {
  return name === '.' || name === '..' ? `${name};` : encodeURIComponent(name)
}

/** The path of the jobs or datasets of a namespace, or of all. */
function listOf(kind: 'jobs' | 'datasets', namespace: string | undefined): string {
  return namespace === undefined ? kind : `namespaces/${segment(namespace)}/${kind}`
}

type Parameters = Readonly<Record<string, string | number | boolean>>

function query(parameters: Parameters): string {
  return new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [name, String(value)]),
  ).toString()
}

async function answer(fetch: Fetch, url: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, signal ? { signal } : {}).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    throw new ServiceError('The lineage service does not answer.')
  })
  if (response.ok) return response
  throw new ServiceError(
    (await reason(response)) ?? `The lineage service answered ${response.status}.`,
    response.status,
  )
}

/** The parsed body; fails for a proxy's page in its place, or a truncated body. */
async function json<T>(response: Response): Promise<T> {
  return (await read<T>(response)).parsed
}

/** The body, parsed and as text. */
async function read<T>(response: Response): Promise<{ readonly text: string; readonly parsed: T }> {
  try {
    const text = await response.text()
    return { text, parsed: JSON.parse(text) as T } // the one unchecked cast: the service's answers have these types
  } catch {
    throw new ServiceError('The response is not from the lineage service, or incomplete.')
  }
}

/** The service's message, from `{"code": 404, "message": "…"}`. */
async function reason(response: Response): Promise<string | undefined> {
  const body: unknown = await response.json().catch(() => undefined)
  const message = typeof body === 'object' && body !== null ? Reflect.get(body, 'message') : undefined
  return typeof message === 'string' ? message : undefined
}
