/** Keeps the graph up to date with the service. Independent of React, which subscribes to it. */

import { EMPTY_GRAPH, jobsOf, type LineageGraph, merge } from '../core/graph'
import { jobId, type NodeId } from '../core/ids'
import { failed, LOADING, type Loadable, ready } from '../core/loadable'
import { batched } from './batched'
import { type Client, isBadRequest, undefinedIfNotFound } from './client'
import type { Connection, Listener } from './stream'
import type { Touched, WireNode } from './types'

export interface FeedState {
  readonly graph: Loadable<LineageGraph>
  /** Whether the service refused the request as invalid, so it is not retried. */
  readonly isFatal: boolean
  /** Whether the last update of the graph failed. */
  readonly isBehind: boolean
  /** The number of the service's jobs that are not in the graph. */
  readonly unlisted: number
  readonly connection: Connection | undefined
  /** Grows with every event; answers about the whole service that have an older revision may be out of date. */
  readonly revision: number
  /** The revision at which an event last touched any node of the graph. */
  readonly graphRevision: number
  /** The revision at which an event last touched each node. */
  readonly nodeRevisions: ReadonlyMap<NodeId, number>
}

interface FeedOptions {
  readonly client: Client
  readonly listen: (listener: Listener) => () => void
  /** Events within this time lead to one update. */
  readonly batchMs: number
  readonly retryMs: number
}

const JOBS_LISTED = 100
/** No more lineage is loaded from this size on: larger graphs are unreadable. A single answer may exceed it. */
const MAX_NODES = 1_000
const PARALLEL_REQUESTS = 6
/** With more changed nodes than this, everything is reloaded. */
const MAX_CHANGES = 60

const START: FeedState = {
  graph: LOADING,
  isFatal: false,
  isBehind: false,
  unlisted: 0,
  connection: undefined,
  revision: 0,
  graphRevision: 0,
  nodeRevisions: new Map(),
}

export class Feed {
  #state = START
  #included: NodeId | undefined
  #isFirst = true
  #retry: ReturnType<typeof setTimeout> | undefined
  readonly #client: Client
  readonly #retryMs: number
  readonly #listeners = new Set<() => void>()
  readonly #stopListening: () => void
  readonly #refresh: (change: Touched | undefined) => void
  readonly #raiseSoon: (change: Touched) => void

  /** Starts to load and to listen. */
  constructor({ client, listen, batchMs, retryMs }: FeedOptions) {
    this.#client = client
    this.#retryMs = retryMs
    this.#refresh = batched(batchMs, (changes) => this.#update(changes))
    this.#raiseSoon = batched(batchMs, async (changes) => this.#raise(this.#inGraph(nodesIn(changes))))
    this.#stopListening = listen({
      onChange: (change) => {
        if (change) this.#raiseSoon(change) // before the graph is loaded, so that an open node's details need not wait
        this.#refresh(change)
      },
      onConnection: (connection) => this.#set({ connection }),
    })
    this.#refresh(undefined)
  }

  readonly state = (): FeedState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Loads a node's lineage if it is not in the graph; returns the id that the node is shown under. */
  async include(node: NodeId): Promise<NodeId> {
    this.#included = node
    if (!this.#graph().nodes.has(node)) await this.#loadChanged(new Set([node]))
    return this.#graph().nodes.has(node) ? node : this.#client.shownId(node)
  }

  /** Stops keeping the included node up to date; the graph stays as it is. */
  release(): void {
    this.#included = undefined
  }

  stop(): void {
    this.#stopListening()
    clearTimeout(this.#retry)
  }

  /** Loads what changed; undefined among the changes means that anything may have. */
  async #update(changes: readonly (Touched | undefined)[]): Promise<void> {
    const wanted = this.#wanted(nodesIn(changes))
    const isAll =
      this.#state.graph.state !== 'ready' || changes.includes(undefined) || wanted.size > MAX_CHANGES
    const isFirst = this.#isFirst
    this.#isFirst = false
    try {
      if (isAll) await this.#loadAll()
      else if (wanted.size > 0) await this.#loadChanged(wanted)
      // Other requests made during the first load are as new as it is.
      if (isAll && !isFirst) this.#raise(this.#graph().nodes.keys())
      if (this.#state.isBehind) this.#set({ isBehind: false })
    } catch (error) {
      // A loaded graph stays, marked as out of date.
      if (this.#state.graph.state === 'ready') this.#set({ isBehind: true })
      else {
        this.#set({ graph: failed(error), isFatal: isBadRequest(error) })
        if (this.#state.isFatal) return
      }
      this.#retry = setTimeout(() => this.#refresh(undefined), this.#retryMs)
    }
  }

  async #loadAll(): Promise<void> {
    const { items, totalCount } = await this.#client.jobs(JOBS_LISTED)
    const jobs = items.map(({ namespace, name }) => jobId(namespace, name))
    const included = this.#included
    const answer = await lineageOfAll(this.#client, included === undefined ? jobs : [included, ...jobs])
    if (this.#included !== undefined && this.#included !== included)
      // another node was included meanwhile
      answer.push(...(await lineageOfAll(this.#client, [this.#included])))
    const graph = merge(EMPTY_GRAPH, answer) // replaces the old graph: deleted nodes are not in the answer
    this.#set({ graph: ready(graph), unlisted: Math.max(0, totalCount - jobsOf(graph).length) })
  }

  /**
   * The changed nodes to load. If the graph is only a part of the service's, or was opened at a node, new nodes that are
   * not connected to it are left out: else it would grow with every job that reports an event.
   */
  #wanted(changed: ReadonlySet<NodeId>): ReadonlySet<NodeId> {
    const isRoom = this.#included === undefined && this.#graph().nodes.size < MAX_NODES
    return this.#state.unlisted === 0 || isRoom ? changed : new Set(this.#inGraph(changed))
  }

  /** The changed nodes that are in the graph, and the included node even if it is not. */
  #inGraph(changed: ReadonlySet<NodeId>): NodeId[] {
    const { nodes } = this.#graph()
    return [...changed].filter((node) => nodes.has(node) || node === this.#included)
  }

  /** Loads the lineage of the changed nodes; of a few without new neighbours only the nodes themselves. */
  async #loadChanged(changed: ReadonlySet<NodeId>): Promise<void> {
    const { nodes } = this.#graph()
    const areLoaded = [...changed].every((node) => nodes.has(node))
    const isFew = areLoaded && changed.size <= PARALLEL_REQUESTS
    const found = isFew ? await withNeighbours(this.#client, changed) : undefined
    const answer = found?.every(({ id }) => nodes.has(id))
      ? found.filter(({ id }) => changed.has(id)) // the neighbours come with only some of their edges
      : await lineageOfAll(this.#client, [...changed])
    if (answer.length === 0 && ![...changed].some((node) => this.#graph().nodes.has(node))) return
    // Merged into the current graph: another load may have finished meanwhile.
    this.#set({ graph: ready(merge(this.#graph(), answer, changed)) })
  }

  /** Raises the revisions of these nodes. */
  #raise(nodes: Iterable<NodeId>): void {
    const revision = this.#state.revision + 1
    const nodeRevisions = new Map(this.#state.nodeRevisions)
    let { graphRevision } = this.#state
    for (const node of nodes) {
      nodeRevisions.set(node, revision)
      graphRevision = revision
    }
    this.#set({ revision, graphRevision, nodeRevisions })
  }

  #graph(): LineageGraph {
    return this.#state.graph.state === 'ready' ? this.#state.graph.value : EMPTY_GRAPH
  }

  #set(news: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...news }
    for (const listener of this.#listeners) listener()
  }
}

function nodesIn(changes: readonly (Touched | undefined)[]): Set<NodeId> {
  return new Set(changes.flatMap((change) => (change ? [...change.jobs, ...change.datasets] : [])))
}

/** The nodes, with their neighbours; unknown ones are left out. */
async function withNeighbours(client: Client, nodes: Iterable<NodeId>): Promise<WireNode[]> {
  const answers = await Promise.all(
    [...nodes].map((node) => client.withNeighbours(node).catch(undefinedIfNotFound)),
  )
  return answers.flatMap((answer) => answer ?? [])
}

/** The lineage of `wanted` nodes, up to `MAX_NODES`; unknown ones are left out. One answer often covers many of them. */
async function lineageOfAll(client: Client, wanted: readonly NodeId[]): Promise<WireNode[]> {
  const found: WireNode[] = []
  const covered = new Set<NodeId>()
  let remaining = wanted
  for (let width = 1; remaining.length > 0 && covered.size < MAX_NODES; width = PARALLEL_REQUESTS) {
    const requested = remaining.slice(0, width)
    const answers = await Promise.all(
      requested.map((node) => client.lineage(node).catch(undefinedIfNotFound)),
    )
    const nodes = answers.flatMap((answer) => answer ?? [])
    found.push(...nodes)
    for (const id of [...requested, ...nodes.map((node) => node.id)]) covered.add(id)
    remaining = remaining.filter((node) => !covered.has(node))
  }
  return found
}
