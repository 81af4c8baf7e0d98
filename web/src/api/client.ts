/** Asks the service. Every failure is a `ServiceError` with a sentence for people. */

import { type Checkpoint, readCheckpoint } from '../core/checkpoint'
import { MOST_STEPS } from '../core/columns'
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
  InclusionProof,
  Job,
  LogEntry,
  Named,
  Neighbour,
  Path,
  Run,
  RunEvent,
  SearchResult,
  Way,
  WireNode,
} from './types'

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  /** Undefined if no answer came at all. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

export type Fetch = (url: string, init?: { signal?: AbortSignal }) => Promise<Response>

/** More hops than any lineage shown here has. */
const DEPTH = 20
/** Only what is next to a node: so little that not even the edges of its neighbours are all told. */
const BESIDE = 0

export class Client {
  readonly #fetch: Fetch
  readonly #base: string
  readonly #asOf: string | undefined

  /** `base` is where the service's routes begin, for example `api/v1`; `asOf`: what is asked for is how it was then. */
  constructor(fetch: Fetch, base: string, asOf?: string) {
    this.#fetch = fetch
    this.#base = base
    this.#asOf = asOf
  }

  /** The first `limit` jobs. */
  async jobs(limit: number): Promise<Page<Job>> {
    const answer = await this.#get<{ jobs: Job[]; totalCount: number }>(`jobs?${query({ limit })}`)
    return { items: answer.jobs, totalCount: answer.totalCount }
  }

  /** The first `count` jobs whose newest run failed, those heard of last first. */
  async failedJobs(count: number): Promise<Page<Job>> {
    return paged(count, (limit, offset) => this.#failedJobs(limit, offset))
  }

  /** The first `count` silent streams, the longest silent first. */
  async silentStreams(count: number): Promise<Page<SilentStream>> {
    return paged(count, (limit, offset) => this.#silentStreams(limit, offset))
  }

  /** How many jobs failed last, and how many streams are silent, where the caller may see all of them. */
  async failureCount(): Promise<number> {
    const [failed, silent] = await Promise.all([
      this.#failedJobs(0, 0),
      this.#silentStreams(0, 0).catch(nothingIfClosed),
    ])
    return failed.totalCount + (silent?.totalCount ?? 0)
  }

  /** The jobs and datasets around a node, both ways. */
  async lineage(node: NodeId): Promise<readonly WireNode[]> {
    return this.#lineage(node, DEPTH)
  }

  /** A node with all of its edges, and what is next to it with some. */
  async beside(node: NodeId): Promise<readonly WireNode[]> {
    return this.#lineage(node, BESIDE)
  }

  /** What a job or dataset is made from and what is made from it. */
  async path(node: NodeId, signal: AbortSignal): Promise<Path> {
    return this.#get(`path?${query({ nodeId: node, depth: DEPTH })}`, signal)
  }

  /** The first `count` jobs, or datasets, next to a node on one side, by name. */
  async neighbours(node: NodeId, way: Way, type: WireNode['type'], count: number): Promise<Page<Neighbour>> {
    return paged(count, async (limit, offset) => {
      const path = `neighbours?${query({ nodeId: node, way, type, limit, offset })}`
      const answer = await this.#get<{ neighbours: Neighbour[]; totalCount: number }>(path)
      return { items: answer.neighbours, totalCount: answer.totalCount }
    })
  }

  /** The id under which a node is shown; its own if nothing is known by it. */
  async shownAs(node: NodeId): Promise<NodeId> {
    const asked = this.#get<{ shown: Named }>(`identity?${query({ nodeId: node })}`)
    const identity = await asked.catch((error: unknown) =>
      isMistaken(error) ? undefined : nothingIfUnknown(error),
    )
    return identity ? datasetId(identity.shown.namespace, identity.shown.name) : node
  }

  /** The columns around all columns of a dataset, both ways. */
  async columnLineage(dataset: NodeId, signal: AbortSignal): Promise<ColumnLineage> {
    return this.#get(
      `column-lineage?${query({ nodeId: dataset, depth: MOST_STEPS, withDownstream: true })}`,
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
    const runs = `namespaces/${segment(namespace)}/jobs/${segment(name)}/runs`
    return paged(count, async (limit, offset) => {
      const answer = await this.#get<{ runs: Run[]; totalCount: number }>(
        `${runs}?${query({ limit, offset })}`,
      )
      return { items: answer.runs, totalCount: answer.totalCount }
    })
  }

  /** The job that a job is a part of, and its first `count` parts, by name. */
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

  /** The first `limit` nodes of the record, by name. */
  async machines(limit: number): Promise<Page<Machine>> {
    const answer = await this.#get<{ nodes: Machine[]; totalCount: number }>(`nodes?${query({ limit })}`)
    return { items: answer.nodes, totalCount: answer.totalCount }
  }

  /** A node of the record, with the newest `limit` of its epochs and of what does not fit. */
  async machine(id: string, limit: number): Promise<MachineDetail> {
    return this.#get(`nodes/${segment(id)}?${query({ limit })}`)
  }

  /** The head of the log as it is now, for a log has no other; and the newest that a witness signed, if any did. */
  async heads(): Promise<readonly [head: Checkpoint, witnessed: Checkpoint | undefined]> {
    const response = await answer(this.#fetch, this.checkpointUrl)
    const head = await readHead(response)
    if (response.headers.get(WITNESSED) === '0') return [head, undefined] // else the browser's console would show a 404
    const asked = answer(this.#fetch, `${this.checkpointUrl}?witnesses=1`).then(readHead)
    return [head, await asked.catch(nothingIfUnknown)]
  }

  /** An entry of the log; what the log holds, it held at any time. */
  async entry(index: number): Promise<LogEntry> {
    const response = await answer(this.#fetch, `${this.#base}/log/entries/${index}`)
    const { text, said } = await read<RunEvent>(response)
    return { ...said, raw: text.slice(text.indexOf(EVENT) + EVENT.length, text.lastIndexOf('}')) }
  }

  /** That the entry stands in the log as it is now. */
  async inclusion(index: number): Promise<InclusionProof> {
    return json(await answer(this.#fetch, this.inclusionUrl(index)))
  }

  /** Where the proof is, for people who want to check it. */
  inclusionUrl(index: number): string {
    return `${this.#base}/log/proof/inclusion?${query({ index })}`
  }

  /** Where the log's head stands, for people who want to keep it. */
  get checkpointUrl(): string {
    return `${this.#base}/log/checkpoint`
  }

  /** The newest `limit` changes of schemas. */
  async drift(limit: number): Promise<Page<SchemaDrift>> {
    const answer = await this.#get<{ drift: SchemaDrift[]; totalCount: number }>(`drift?${query({ limit })}`)
    return { items: answer.drift, totalCount: answer.totalCount }
  }

  /** Why a dataset, or one of its columns, may be wrong. */
  async rootCause(dataset: NodeId, column: string | undefined, signal: AbortSignal): Promise<RootCause> {
    const asked = { nodeId: dataset, ...(column === undefined ? {} : { column }) }
    return this.#get(`root-cause?${query(asked)}`, signal)
  }

  /** What a change of a dataset, or of one of its columns, reaches; `isDrop`: and what breaks once it is gone. */
  async impact(
    dataset: NodeId,
    column: string | undefined,
    isDrop: boolean,
    limit: number,
    signal: AbortSignal,
  ): Promise<Impact> {
    const asked = { ...(column === undefined ? {} : { column }), ...(isDrop ? { change: 'drop' } : {}) }
    return this.#get(`impact?${query({ nodeId: dataset, ...asked, limit })}`, signal)
  }

  /** The first `limit` changes since then of what touches a job or dataset. */
  async changes(node: NodeId, since: string, limit: number, signal: AbortSignal): Promise<Page<Change>> {
    const asked = {
      nodeId: node,
      from: since,
      ...(this.#asOf === undefined ? {} : { to: this.#asOf }),
      limit,
    }
    const answer = await this.#get<{ changes: Change[]; totalCount: number }>(`diff?${query(asked)}`, signal)
    return { items: answer.changes, totalCount: answer.totalCount }
  }

  /** How many gaps are known, and how many events are signed. */
  async coverage(): Promise<Coverage> {
    return this.#get(`coverage?${query({ limit: 0 })}`)
  }

  /** The newest `count` gaps of a kind. */
  async gaps(kind: GapKind, count: number): Promise<Page<KnownGap>> {
    return paged(count, async (limit, offset) => {
      const path = `coverage?${query({ kind, limit, offset })}`
      const answer = await this.#get<{ gaps: KnownGap[]; totalCount: number }>(path)
      return { items: answer.gaps, totalCount: answer.totalCount }
    })
  }

  /** What was last asserted or measured of a dataset, or tested by a job, newest first. */
  async quality(node: NodeId, limit: number): Promise<readonly QualityPoint[]> {
    return (await this.#get<{ timeline: QualityPoint[] }>(`quality?${query({ nodeId: node, limit })}`))
      .timeline
  }

  /** How many events are stored: it grows with each. */
  async storedEvents(): Promise<number> {
    return (await this.#get<{ events: { stored: number } }>('summary')).events.stored
  }

  async #failedJobs(limit: number, offset: number): Promise<Page<Job>> {
    const path = `jobs?${query({ lastRunStates: 'FAILED', limit, offset })}`
    const answer = await this.#get<{ jobs: Job[]; totalCount: number }>(path)
    return { items: answer.jobs, totalCount: answer.totalCount }
  }

  async #silentStreams(limit: number, offset: number): Promise<Page<SilentStream>> {
    const path = `silent-streams?${query({ limit, offset })}`
    const answer = await this.#get<{ silentStreams: SilentStream[]; totalCount: number }>(path)
    return { items: answer.silentStreams, totalCount: answer.totalCount }
  }

  async #lineage(node: NodeId, depth: number): Promise<readonly WireNode[]> {
    return (await this.#get<{ graph: WireNode[] }>(`lineage?${query({ nodeId: node, depth })}`)).graph
  }

  async #get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const then = this.#asOf && `${path.includes('?') ? '&' : '?'}${query({ asOf: this.#asOf })}`
    const asked = answer(this.#fetch, `${this.#base}/${path}${then ?? ''}`, signal)
    const response = await asked.catch((error: unknown) => {
      throw isUnreadTime(error) ? new ServiceError(noTime(this.#asOf), error.status) : error
    })
    return json(response)
  }
}

/** What stands before an entry's event, which is the last member: parsed, its bytes would not be those of the digest. */
const EVENT = '"event":'

/** How long the log was in the newest head that a witness signed. */
const WITNESSED = 'Headwater-Witnessed-Size'

async function readHead(response: Response): Promise<Checkpoint> {
  const found = readCheckpoint(await response.text())
  if (!found) throw new ServiceError('The service answered with no checkpoint of a log.')
  return found
}

function isUnreadTime(error: unknown): error is ServiceError {
  return isMistaken(error) && error.message.startsWith('query param asOf ')
}

/** In terms of the page: readers know nothing of the parameters that it asks by. */
function noTime(asOf: string | undefined): string {
  return (
    `The address asks for all as of “${asOf}”, which is no time that can be read. Choose one with “as of” above, ` +
    'or end the address with a time and its zone: ?asOf=2026-05-22T14:23:11Z'
  )
}

/** Whether the service did not answer, or what stands before it said so: it may do so soon. */
export function isAway(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === undefined || GATEWAY.has(error.status))
}

/** Source: RFC 9110, 15.6.3 to 15.6.5 */
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** Whether the service could not read what it was asked, and never will. */
export function isMistaken(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 400
}

/** For where not to be known is an answer, too. */
export function nothingIfUnknown(error: unknown): undefined {
  return nothingIf(404, error)
}

/** For what not everybody may see. */
export function nothingIfClosed(error: unknown): undefined {
  return nothingIf(403, error)
}

function nothingIf(status: number, error: unknown): undefined {
  if (error instanceof ServiceError && error.status === status) return undefined
  throw error
}

/**
 * A name as one segment of a path. Browsers would take `..`, percent-encoded too, as a step of the path; the service
 * knows it with a semicolon behind it. Source: URL Standard, double-dot URL path segment
 */
function segment(name: string): string {
  return name === '.' || name === '..' ? `${name};` : encodeURIComponent(name)
}

function query(parameters: Readonly<Record<string, string | number | boolean>>): string {
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

/** What an answer says; none at all where a network's own page came in its place, or the half of it. */
async function json<T>(response: Response): Promise<T> {
  return (await read<T>(response)).said
}

/** The same, and its very text. */
async function read<T>(response: Response): Promise<{ readonly text: string; readonly said: T }> {
  try {
    const text = await response.text()
    return { text, said: JSON.parse(text) as T } // the one place where the service's word is taken for its types
  } catch {
    throw new ServiceError('What came is no answer of the lineage service, or not all of it.')
  }
}

/** The service's own words, from `{"code": 404, "message": "…"}`. */
async function reason(response: Response): Promise<string | undefined> {
  const body: unknown = await response.json().catch(() => undefined)
  const message = typeof body === 'object' && body !== null ? Reflect.get(body, 'message') : undefined
  return typeof message === 'string' ? message : undefined
}
