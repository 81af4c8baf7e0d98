/** The service's answers about nodes' records, gaps, quality, schema changes, root causes, impact and changes. */

import type { Named, NodeId, RunId } from '../core/ids'
import type { RunState } from './types'

export type TroubleKind = 'fork' | 'broken' | 'hole' | 'replay' | 'erased' | 'silence' | 'dropped' | 'clock'

export interface TroubleCounts {
  readonly missing: number
  readonly forks: number
  readonly broken: number
  readonly replays: number
  readonly dropped: number
  readonly silentEpochs: number
  readonly clockAhead: number
}

/** A machine that signs events: the API calls it a node. In the page's code, nodes are the graph's jobs and datasets. */
export interface Machine {
  readonly nodeId: string
  readonly firstSeen: string
  readonly lastSeen: string
  readonly lastReceivedAt: string
  readonly events: number
  readonly unproved: number
  readonly epochs: number
  readonly lastSequence: number
  readonly heartbeatSeconds: number | null
  readonly clockAheadMs: number
  readonly troubles: TroubleCounts
}

export interface Epoch {
  readonly epoch: string
  readonly firstSeen: string
  readonly lastSeen: string
  readonly events: number
  readonly lastSequence: number
  readonly headHash: string
  readonly isOver: boolean
}

export interface Trouble {
  readonly kind: TroubleKind
  readonly epoch: string
  readonly words: string
  readonly at: string
  readonly events: number
  readonly first: number | null
  readonly last: number | null
}

export interface MachineDetail extends Machine {
  readonly ofEpochs: readonly Epoch[]
  readonly listed: readonly Trouble[]
  readonly listedCount: number
}

export type GapKind =
  | 'quarantined-name'
  | 'run-without-start'
  | 'run-without-end'
  | 'extraction-error'
  | 'unread-operator'
  | 'silent-stream'
  | 'edge-without-columns'
  | 'dataset-without-schema'

export interface GapCounts {
  readonly quarantinedNames: number
  readonly runsWithoutStart: number
  readonly runsWithoutEnd: number
  readonly extractionErrors: number
  readonly unreadOperators: number
  readonly silentStreams: number
  readonly edgesWithoutColumns: number
  readonly datasetsWithoutSchema: number
}

export interface KnownGap {
  /** A job, a dataset or a run. */
  readonly nodeId: string | null
  readonly namespace: string
  readonly words: string
  readonly at: string
  readonly related: readonly NodeId[]
}

export interface Coverage {
  readonly total: {
    readonly gaps: GapCounts
    readonly signatures: { readonly events: number; readonly verified: number }
  }
}

/** The assertions, measurements or tests of one time; `passed` is null if nothing was asserted or tested. */
export interface QualityPoint {
  readonly at: string
  readonly run: RunId | null
  readonly direction: 'input' | 'output' | null
  readonly passed: boolean | null
  readonly assertions: readonly unknown[]
  readonly tests: readonly unknown[]
}

/** A running run whose last event is older than the longest interval that its job announced. */
export interface SilentStream {
  readonly job: Named
  readonly run: RunId
  readonly lastHeard: string
  readonly windowSeconds: number
}

export interface ColumnDrift {
  readonly column: string
  readonly change: 'added' | 'removed' | 'retyped'
  readonly before: string | null
  readonly after: string | null
  readonly breaking: boolean | null
  readonly reaches: { readonly columns: number; readonly datasets: number; readonly jobs: number }
  readonly jobs: readonly NodeId[]
}

export interface SchemaDrift {
  readonly nodeId: NodeId
  readonly at: string
  readonly toldBy: Named | null
  readonly index: number
  readonly digest: string
  readonly subject: {
    readonly subject: string
    readonly version: number
    readonly compatibility: string | null
    readonly fitsRule: boolean | null
  } | null
  readonly breaking: boolean | null
  readonly changes: readonly ColumnDrift[]
}

export interface Finding {
  readonly rank: number
  readonly kind: string
  readonly words: string
  readonly nodeId: NodeId
  readonly at: string
  /** True if it follows from another finding. */
  readonly consequence: boolean
  readonly events: readonly { readonly logIndex: number; readonly digest: string }[]
  readonly path: readonly { readonly dataset: NodeId; readonly words: string }[]
}

export interface RootCause {
  readonly run: {
    readonly id: RunId
    readonly job: Named
    readonly state: RunState
    readonly startedAt: string
  } | null
  readonly summary: string
  readonly findings: readonly Finding[]
  readonly lookedAt: readonly unknown[]
  readonly isCut: boolean
}

/** A job's parent and its parts. Source: `/containment`. */
export interface Containment {
  readonly partOf: Named | null
  readonly parts: readonly Named[]
  readonly totalCount: number
}

/** Something added, removed or changed between two times. Source: `/diff`. */
export interface Change {
  readonly change: 'came' | 'went' | 'changed'
  readonly kind:
    | 'job'
    | 'jobFacet'
    | 'runFacet'
    | 'dataset'
    | 'datasetFacet'
    | 'tag'
    | 'schema'
    | 'column'
    | 'edge'
    | 'columnEdge'
  readonly nodeId: string | null
  readonly origin: string | null
  readonly destination: string | null
  readonly facet: string | null
  readonly before: unknown
  readonly after: unknown
  readonly event: {
    readonly index: number
    readonly digest: string
    readonly eventTime: string
    readonly job: Named | null
  } | null
}

export interface Owner {
  readonly name: string
  readonly type: string | null
}

export interface Reached {
  readonly type: 'DATASET_FIELD' | 'DATASET' | 'JOB'
  readonly namespace: string
  readonly name: string
  readonly field: string | null
  readonly distance: number
  readonly breaking: boolean | null
  readonly reason: string | null
  readonly owners: readonly Owner[]
}

export interface Impact {
  readonly breaking: boolean | null
  readonly summary: string
  readonly reached: readonly Reached[]
  readonly totalCount: number
}
