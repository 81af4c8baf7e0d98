/** The kinds of known gaps. */

import type { GapCounts, GapKind } from '../api/answers'

/** The kinds, in an auditor's order of priority, each with the name of its count. */
export const GAP_COUNTS: readonly (readonly [GapKind, keyof GapCounts])[] = [
  ['quarantined-name', 'quarantinedNames'],
  ['extraction-error', 'extractionErrors'],
  ['unread-operator', 'unreadOperators'],
  ['silent-stream', 'silentStreams'],
  ['run-without-end', 'runsWithoutEnd'],
  ['run-without-start', 'runsWithoutStart'],
  ['edge-without-columns', 'edgesWithoutColumns'],
  ['dataset-without-schema', 'datasetsWithoutSchema'],
]

export const GAP_LABELS: Readonly<Record<GapKind, string>> = {
  'quarantined-name': 'Names in quarantine: namespace unknown',
  'extraction-error': 'Lineage that a producer failed to extract',
  'unread-operator': 'Runs of Airflow operators without lineage support',
  'silent-stream': 'Silent streams',
  'run-without-end': 'Runs without an end',
  'run-without-start': 'Runs without a start',
  'edge-without-columns': 'Edges without columns',
  'dataset-without-schema': 'Datasets without a schema',
}
