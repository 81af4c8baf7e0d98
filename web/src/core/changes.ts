/** Descriptions of additions, removals and changes. */

import type { Change } from '../api/answers'
import type { LineageGraph } from './graph'
import type { ColumnRef, NodeId } from './ids'
import { isolated } from './isolated'
import { labelOf } from './nodeLabels'

export const CHANGE_LABELS: Readonly<Record<Change['change'], string>> = {
  came: 'new',
  went: 'removed',
  changed: 'changed',
}

/** "column `delay` of lake.marts.delays, int → long". */
export function changeText(graph: LineageGraph, change: Change): string {
  const of = subjectOf(graph, change)
  const how = detailOf(graph, change)
  return how === '' ? of : `${of}, ${how}`
}

function subjectOf(graph: LineageGraph, { kind, nodeId, origin, destination, facet }: Change): string {
  switch (kind) {
    case 'edge':
      return `${idText(graph, origin)} → ${idText(graph, destination)}`
    case 'columnEdge':
      return `column ${idText(graph, origin)} → ${idText(graph, destination)}`
    case 'jobFacet':
    case 'datasetFacet':
      return `${isolated(facet ?? '')} of ${idText(graph, nodeId)}`
    case 'runFacet':
      return `${isolated(facet ?? '')} of the run`
    case 'schema':
      return `schema of ${idText(graph, nodeId)}`
    default:
      return `${kind} ${idText(graph, nodeId)}`
  }
}

function detailOf(graph: LineageGraph, { kind, change, nodeId, before, after }: Change): string {
  switch (kind) {
    case 'column':
    case 'tag':
      return arrow(typeText(before), typeText(after))
    case 'columnEdge':
      return arrow(stepsText(before), stepsText(after))
    case 'dataset':
      return change === 'changed' && isList(before) && isList(after)
        ? namesText(graph, nodeId, before, after)
        : ''
    default:
      return ''
  }
}

/** The difference in a dataset's names; `shown` is the name that it is shown under afterwards. */
function namesText(
  graph: LineageGraph,
  shown: Change['nodeId'],
  before: readonly unknown[],
  after: readonly unknown[],
): string {
  const added = after.filter((name) => !before.includes(name))
  const parts: readonly [string, readonly unknown[]][] = [
    ['was called', added.includes(shown) ? before : []],
    ['also called', added.filter((name) => name !== shown)],
    ['no longer called', before.filter((name) => !after.includes(name))],
  ]
  return parts
    .filter(([, names]) => names.length > 0)
    .map(([how, names]) => `${how} ${names.map((name) => idText(graph, String(name))).join(', ')}`)
    .join('; ')
}

function arrow(before: string, after: string): string {
  return before && after ? `${before} → ${after}` : before || after
}

function typeText(type: unknown): string {
  return typeof type === 'string' ? isolated(type) : ''
}

function stepsText(steps: unknown): string {
  if (!isList(steps)) return ''
  const words = steps.map((step) => {
    const { type, subtype, masking } = step as { type: string; subtype: string | null; masking: boolean }
    const label = isolated(subtype ?? type)
      .toLowerCase()
      .replaceAll('_', ' ')
    return masking ? `${label}, masked` : label
  })
  return [...new Set(words)].join(', ')
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

const FIELD = 'datasetField:'

/** A job's or dataset's label; for a column also its name: `delay of lake.marts.delays`. */
function idText(graph: LineageGraph, id: string | null): string {
  if (id === null) return ''
  const field = id.startsWith(FIELD) ? columnOf(graph, id.slice(FIELD.length)) : undefined
  return field
    ? `${isolated(field.column)} of ${labelOf(graph, field.dataset)}`
    : labelOf(graph, id as NodeId)
}

/** The column and its dataset: looked up in the graph, since names may contain the colons that separate them. */
function columnOf(graph: LineageGraph, name: string): ColumnRef | undefined {
  for (let end = name.lastIndexOf(':'); end > 0; end = name.lastIndexOf(':', end - 1)) {
    const dataset = `dataset:${name.slice(0, end)}` as NodeId
    if (graph.nodes.has(dataset)) return { dataset, column: name.slice(end + 1) }
  }
  return undefined
}
