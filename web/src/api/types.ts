/** The part of the service's answers that the page reads. Facets are `unknown`: producers may send anything there. */

import type { Named, NodeId, RunId } from '../core/ids'

export interface Namespace {
  readonly name: string
  /** Whether it was deleted. */
  readonly isHidden: boolean
}

export type Facets = Readonly<Record<string, unknown>>

export type RunState = 'NEW' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'ABORTED'

/** The result of verifying an event's signature; for a run, the worst of its events. */
export type Verdict = 'ok' | 'tampered' | 'unknown-key' | 'unsigned' | 'malformed'

export interface Signature {
  readonly verdict: Verdict
  readonly keyId: string | null
  readonly events: number
  readonly verified: number
}

interface Counters {
  readonly recordsIn?: number | null
  readonly recordsOut?: number | null
  readonly bytesIn?: number | null
  readonly bytesOut?: number | null
  readonly errorCount?: number | null
  readonly durationMs?: number | null
  readonly stopReason?: string | null
}

export interface Run {
  readonly id: RunId
  readonly state: RunState
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly durationMs: number | null
  /** The time of its newest event. */
  readonly updatedAt?: string
  /** When a running run becomes stale, if its job announced an interval between events. */
  readonly staleAfter?: string | null
  readonly facets: Facets
  readonly counters?: Counters | null
  readonly signature?: Signature | null
}

export interface Field {
  readonly name: string
  readonly type: string | null
  readonly description: string | null
  readonly tags?: readonly string[]
  /** The members of a struct. */
  readonly fields?: readonly Field[]
}

export interface Dataset extends Named {
  readonly description: string | null
  readonly fields: readonly Field[]
  /** Its other names. */
  readonly symlinks: readonly Named[]
  /** The producer's type, such as `DASHBOARD`. */
  readonly datasetType?: string
  readonly tags?: readonly string[]
  /** The time of its newest event. */
  readonly updatedAt?: string
  /** Only in the answer about a single dataset. */
  readonly facets?: Facets
}

export interface Job extends Named {
  readonly description: string | null
  readonly type: string
  readonly latestRun: Run | null
  /** The newest runs, newest first. */
  readonly latestRuns?: readonly Run[] | null
  readonly outputs?: readonly Named[]
  readonly tags?: readonly string[]
  /** Only in answers about jobs, not in lineage. */
  readonly facets?: Facets
}

/** An edge in the direction of the data flow. */
export interface WireEdge {
  readonly origin: NodeId
  readonly destination: NodeId
}

/** The edges upstream and downstream of a job or dataset. Source: `/path` */
export interface Path {
  readonly edges: readonly WireEdge[]
  /** There are more beyond the depth limit. */
  readonly isCut: boolean
}

/** Of lineage, seen from a node. */
export type Direction = 'upstream' | 'downstream'

/** A job or dataset directly upstream or downstream of another. */
export interface Neighbour extends Named {
  readonly nodeId: NodeId
  /** The other names of a dataset. */
  readonly symlinks?: readonly Named[]
}

interface Edges {
  readonly id: NodeId
  readonly inEdges: readonly WireEdge[]
  readonly outEdges: readonly WireEdge[]
}

export type WireNode =
  | (Edges & { readonly type: 'DATASET'; readonly data: Dataset })
  | (Edges & { readonly type: 'JOB'; readonly data: Job })

export interface Transformation {
  readonly type: 'DIRECT' | 'INDIRECT'
  readonly subtype: string | null
  readonly description: string | null
  readonly masking: boolean | null
}

interface InputDataset {
  readonly namespace: string
  readonly dataset: string
  /** Absent from a service that has only Marquez's API. */
  readonly transformations?: readonly Transformation[]
}

export interface InputField extends InputDataset {
  readonly field: string
}

/** A source of a dataset that is not listed per column. */
interface DatasetInputField extends InputDataset {
  /** Null: all columns of that dataset. */
  readonly field: string | null
  /** The target column; null: all columns. */
  readonly targetField: string | null
}

/** Sources listed once per dataset, since repeating them for each column would be too large. */
interface InputFieldsOfDataset {
  readonly namespace: string
  readonly dataset: string
  readonly inputFields: readonly DatasetInputField[]
}

export interface WireColumn {
  readonly data: {
    readonly namespace: string
    readonly dataset: string
    readonly field: string
    readonly fieldType: string
    readonly inputFields: readonly InputField[]
  }
}

/** Source: `/column-lineage` */
export interface ColumnLineage {
  readonly graph: readonly WireColumn[]
  /** There are more beyond the depth limit; absent if there are none, as in Marquez. */
  readonly isCut?: boolean
  readonly datasetInputFields?: readonly InputFieldsOfDataset[]
}

export interface SearchResult extends Named {
  readonly nodeId: NodeId
  readonly type: 'DATASET' | 'JOB'
}

export interface RunEvent {
  readonly index: number
  readonly eventType: string | null
  readonly eventTime: string
  readonly receivedAt: string
  readonly digest: string
  readonly verdict: Verdict
  readonly keyId: string | null
}

/** An entry of the log. */
export interface LogEntry extends RunEvent {
  /** The event as received; the digest covers these bytes. */
  readonly raw: string
}

/** Proves that an entry is in the log: hashes up to the root of its Merkle tree. Source: `/log/proof/inclusion` */
export interface InclusionProof {
  readonly size: number
  readonly leafHash: string
  readonly rootHash: string
}

/** The jobs and datasets that one stored event touched. */
export interface Touched {
  readonly jobs: readonly NodeId[]
  readonly datasets: readonly NodeId[]
}
