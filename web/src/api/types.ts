/** The service's answers, as far as the page reads them. Facets stay unknown: producers may send anything there. */

import type { NodeId, RunId } from '../core/ids'

export interface Named {
  readonly namespace: string
  readonly name: string
}

export type Facets = Readonly<Record<string, unknown>>

export type RunState = 'NEW' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'ABORTED'

/** How an event's signature fared; of a run, the worst of its events. */
export type Verdict = 'ok' | 'tampered' | 'unknown-key' | 'unsigned' | 'malformed'

export interface Signature {
  readonly verdict: Verdict
  readonly keyId: string | null
  readonly events: number
  readonly verified: number
}

export interface Counters {
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
  /** When it was heard of last. */
  readonly updatedAt?: string
  /** When a run that goes on counts as stale, if its job promises to be heard of now and then. */
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
  /** Of a nested one. */
  readonly fields?: readonly Field[]
}

export interface Dataset extends Named {
  readonly description: string | null
  readonly fields: readonly Field[]
  /** Its other names. */
  readonly symlinks: readonly Named[]
  /** What a producer called it, such as `DASHBOARD`. */
  readonly datasetType?: string
  readonly tags?: readonly string[]
  /** Only where the dataset alone is asked for. */
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
  /** Only where jobs are asked for, and not what is around one. */
  readonly facets?: Facets
}

/** An edge in the direction of the data's flow. */
export interface WireEdge {
  readonly origin: NodeId
  readonly destination: NodeId
}

/** What a job or dataset is made from and what is made from it. Source: `/path` */
export interface Path {
  readonly edges: readonly WireEdge[]
  /** There are more beyond. */
  readonly isCut: boolean
}

/** On which side of a node. */
export type Way = 'upstream' | 'downstream'

/** A job or dataset next to another. */
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
  /** Absent where a service speaks only Marquez's dialect. */
  readonly transformations?: readonly Transformation[]
}

export interface InputField extends InputDataset {
  readonly field: string
}

/** A source of a dataset as a whole. */
export interface DatasetInputField extends InputDataset {
  /** Null: all columns of that dataset. */
  readonly field: string | null
  /** The column that it goes into; null: all. */
  readonly targetField: string | null
}

/** What is told once of a dataset, because at each of its columns it would be too much. */
export interface InputFieldsOfDataset {
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
  /** There are more beyond; where there are none, it is not there, as Marquez does not have it. */
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
  /** The event as it came: what the digest is of. */
  readonly raw: string
}

/** Proves that an entry stands in the log: hashes up to the root of its tree. Source: `/log/proof/inclusion` */
export interface InclusionProof {
  readonly size: number
  readonly leafHash: string
  readonly rootHash: string
}

/** What one stored event touched. */
export interface Touched {
  readonly jobs: readonly NodeId[]
  readonly datasets: readonly NodeId[]
}
