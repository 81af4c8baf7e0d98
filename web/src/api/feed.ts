/** Keeps the graph in step with the service. Knows nothing of React: it is subscribed to. */

import { EMPTY_GRAPH, jobsOf, type LineageGraph, merge } from '../core/graph'
import { jobId, type NodeId } from '../core/ids'
import { failed, LOADING, type Loadable, ready } from '../core/loadable'
import { batched } from './batched'
import { type Client, isMistaken, nothingIfUnknown } from './client'
import type { Connection, Listener } from './stream'
import type { Touched, WireNode } from './types'

export interface FeedState {
  readonly graph: Loadable<LineageGraph>
  /** Whether what was asked for can never be answered, so nothing is asked again. */
  readonly isGivenUp: boolean
  /** Whether the graph could not be kept in step: the service was asked, and gave no answer. */
  readonly isBehind: boolean
  /** How many jobs the service knows that are not in the graph. */
  readonly unlisted: number
  readonly connection: Connection | undefined
  /** Grows with all that is heard; answers about everything may be stale when they are of an older revision. */
  readonly revision: number
  /** The revision at which anything in the graph was last touched by an event. */
  readonly drawn: number
  /** The revision at which a node was last touched by an event. */
  readonly touched: ReadonlyMap<NodeId, number>
}

export interface FeedOptions {
  readonly client: Client
  readonly listen: (listener: Listener) => () => void
  /** Events within this time are answered by one refresh. */
  readonly gatherMs: number
  readonly retryMs: number
}

const JOBS_LISTED = 100
/** Of a graph of more nodes than this nobody sees anything; one answer may still be larger. */
const MOST_NODES = 1_000
const AT_ONCE = 6
/** Of more changes than this, what they are does not matter: all is asked for. */
const MOST_CHANGES = 60

const START: FeedState = {
  graph: LOADING,
  isGivenUp: false,
  isBehind: false,
  unlisted: 0,
  connection: undefined,
  revision: 0,
  drawn: 0,
  touched: new Map(),
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
  readonly #tell: (change: Touched) => void

  /** Starts to load and to listen. */
  constructor({ client, listen, gatherMs, retryMs }: FeedOptions) {
    this.#client = client
    this.#retryMs = retryMs
    this.#refresh = batched(gatherMs, (changes) => this.#answer(changes))
    this.#tell = batched(gatherMs, async (changes) => this.#touch(this.#shown(namesIn(changes))))
    this.#stopListening = listen({
      onChange: (change) => {
        if (change) this.#tell(change) // at once: who looks at a node does not wait until the graph is in step
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

  /** Loads a node's surroundings if the graph does not hold it; the id that it is shown under, if it is known. */
  async include(node: NodeId): Promise<NodeId> {
    this.#included = node
    if (!this.#graph().nodes.has(node)) await this.#loadChanged(new Set([node]))
    return this.#graph().nodes.has(node) ? node : this.#client.shownAs(node)
  }

  /** No node is asked for any more; what the graph holds stays. */
  release(): void {
    this.#included = undefined
  }

  stop(): void {
    this.#stopListening()
    clearTimeout(this.#retry)
  }

  /** Loads what changed; undefined among the changes stands for anything. */
  async #answer(changes: readonly (Touched | undefined)[]): Promise<void> {
    const wanted = this.#wanted(namesIn(changes))
    const isAll =
      this.#state.graph.state !== 'ready' || changes.includes(undefined) || wanted.size > MOST_CHANGES
    const isFirst = this.#isFirst
    this.#isFirst = false
    try {
      if (isAll) await this.#loadAll()
      else if (wanted.size > 0) await this.#loadChanged(wanted)
      // What was asked for while all was loaded for the first time is as new as that.
      if (isAll && !isFirst) this.#touch(this.#graph().nodes.keys())
      if (this.#state.isBehind) this.#set({ isBehind: false })
    } catch (error) {
      // A graph that is there stays, and is said to be old.
      if (this.#state.graph.state === 'ready') this.#set({ isBehind: true })
      else {
        this.#set({ graph: failed(error), isGivenUp: isMistaken(error) })
        if (this.#state.isGivenUp) return
      }
      this.#retry = setTimeout(() => this.#refresh(undefined), this.#retryMs)
    }
  }

  async #loadAll(): Promise<void> {
    const { items, totalCount } = await this.#client.jobs(JOBS_LISTED)
    const jobs = items.map(({ namespace, name }) => jobId(namespace, name))
    const included = this.#included
    const answer = await neighbourhoods(this.#client, included === undefined ? jobs : [included, ...jobs])
    if (this.#included !== undefined && this.#included !== included)
      // by who chose another one meanwhile
      answer.push(...(await neighbourhoods(this.#client, [this.#included])))
    const graph = merge(EMPTY_GRAPH, answer) // anew: what is no more, is not in the answer
    this.#set({ graph: ready(graph), unlisted: Math.max(0, totalCount - jobsOf(graph).length) })
  }

  /**
   * Of a graph that is only a part, what is in it or touches it: else it would grow with every job that is heard of.
   * Around a node that was asked for nothing else was wanted, however little that is.
   */
  #wanted(changed: ReadonlySet<NodeId>): ReadonlySet<NodeId> {
    const isRoom = this.#included === undefined && this.#graph().nodes.size < MOST_NODES
    return this.#state.unlisted === 0 || isRoom ? changed : new Set(this.#shown(changed))
  }

  /** Those that the graph holds, and what was asked for, be it there or not. */
  #shown(changed: ReadonlySet<NodeId>): NodeId[] {
    const { nodes } = this.#graph()
    return [...changed].filter((node) => nodes.has(node) || node === this.#included)
  }

  /** Of a few nodes that have no new neighbour only they themselves are asked for. */
  async #loadChanged(changed: ReadonlySet<NodeId>): Promise<void> {
    const { nodes } = this.#graph()
    const isHere = [...changed].every((node) => nodes.has(node))
    const beside = isHere && changed.size <= AT_ONCE ? await allBeside(this.#client, changed) : undefined
    const answer = beside?.every(({ id }) => nodes.has(id))
      ? beside.filter(({ id }) => changed.has(id)) // of the others not all edges are told
      : await neighbourhoods(this.#client, [...changed])
    if (answer.length === 0 && ![...changed].some((node) => this.#graph().nodes.has(node))) return
    // Into what is there now: another load may have come first.
    this.#set({ graph: ready(merge(this.#graph(), answer, changed)) })
  }

  #touch(nodes: Iterable<NodeId>): void {
    const revision = this.#state.revision + 1
    const touched = new Map(this.#state.touched)
    let { drawn } = this.#state
    for (const node of nodes) {
      touched.set(node, revision)
      drawn = revision
    }
    this.#set({ revision, drawn, touched })
  }

  #graph(): LineageGraph {
    return this.#state.graph.state === 'ready' ? this.#state.graph.value : EMPTY_GRAPH
  }

  #set(news: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...news }
    for (const listener of this.#listeners) listener()
  }
}

function namesIn(changes: readonly (Touched | undefined)[]): Set<NodeId> {
  return new Set(changes.flatMap((change) => (change ? [...change.jobs, ...change.datasets] : [])))
}

/** The nodes that the service knows, with what is next to them. */
async function allBeside(client: Client, nodes: Iterable<NodeId>): Promise<WireNode[]> {
  const answers = await Promise.all([...nodes].map((node) => client.beside(node).catch(nothingIfUnknown)))
  return answers.flatMap((answer) => answer ?? [])
}

/** The lineage of `wanted` nodes that the service knows, till it is enough; one answer often covers many of them. */
async function neighbourhoods(client: Client, wanted: readonly NodeId[]): Promise<WireNode[]> {
  const found: WireNode[] = []
  const covered = new Set<NodeId>()
  let open = wanted
  for (let width = 1; open.length > 0 && covered.size < MOST_NODES; width = AT_ONCE) {
    const asked = open.slice(0, width)
    const answers = await Promise.all(asked.map((node) => client.lineage(node).catch(nothingIfUnknown)))
    const nodes = answers.flatMap((answer) => answer ?? [])
    found.push(...nodes)
    for (const id of [...asked, ...nodes.map((node) => node.id)]) covered.add(id)
    open = open.filter((node) => !covered.has(node))
  }
  return found
}
