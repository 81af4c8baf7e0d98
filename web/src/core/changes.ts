/** What came, went or changed, in words. */

import type { Change } from '../api/answers'
import type { LineageGraph } from './graph'
import type { ColumnRef, NodeId } from './ids'
import { isolated } from './isolated'
import { labelOf } from './labels'

export const CHANGE_WORDS: Readonly<Record<Change['change'], string>> = {
  came: 'new',
  went: 'gone',
  changed: 'changed',
}

/** "column `delay` of lake.marts.delays, int → long". */
export function changeWords(graph: LineageGraph, change: Change): string {
  const of = subjectOf(graph, change)
  const how = howOf(graph, change)
  return how === '' ? of : `${of}, ${how}`
}

function subjectOf(graph: LineageGraph, { kind, nodeId, origin, destination, facet }: Change): string {
  switch (kind) {
    case 'edge':
      return `${placeText(graph, origin)} → ${placeText(graph, destination)}`
    case 'columnEdge':
      return `column ${placeText(graph, origin)} → ${placeText(graph, destination)}`
    case 'jobFacet':
    case 'datasetFacet':
      return `${isolated(facet ?? '')} of ${placeText(graph, nodeId)}`
    case 'runFacet':
      return `${isolated(facet ?? '')} of the run`
    case 'schema':
      return `schema of ${placeText(graph, nodeId)}`
    default:
      return `${kind} ${placeText(graph, nodeId)}`
  }
}

function howOf(graph: LineageGraph, { kind, change, nodeId, before, after }: Change): string {
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

/** What is otherwise in the names of a dataset, which is told of by the one that it is shown by afterwards. */
function namesText(
  graph: LineageGraph,
  shown: Change['nodeId'],
  before: readonly unknown[],
  after: readonly unknown[],
): string {
  const got = after.filter((name) => !before.includes(name))
  const said: readonly [string, readonly unknown[]][] = [
    ['was called', got.includes(shown) ? before : []],
    ['also called', got.filter((name) => name !== shown)],
    ['no longer called', before.filter((name) => !after.includes(name))],
  ]
  return said
    .filter(([, names]) => names.length > 0)
    .map(([how, names]) => `${how} ${names.map((name) => placeText(graph, String(name))).join(', ')}`)
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
    const done = isolated(subtype ?? type)
      .toLowerCase()
      .replaceAll('_', ' ')
    return masking ? `${done}, masked` : done
  })
  return [...new Set(words)].join(', ')
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

const FIELD = 'datasetField:'

/** A job or dataset by its label, a column after its dataset's. */
function placeText(graph: LineageGraph, id: string | null): string {
  if (id === null) return ''
  const field = id.startsWith(FIELD) ? columnOf(graph, id.slice(FIELD.length)) : undefined
  return field
    ? `${isolated(field.column)} of ${labelOf(graph, field.dataset)}`
    : labelOf(graph, id as NodeId)
}

/** Which dataset of the graph has this column: names have colons too, so it is looked up. */
function columnOf(graph: LineageGraph, name: string): ColumnRef | undefined {
  for (let end = name.lastIndexOf(':'); end > 0; end = name.lastIndexOf(':', end - 1)) {
    const dataset = `dataset:${name.slice(0, end)}` as NodeId
    if (graph.nodes.has(dataset)) return { dataset, column: name.slice(end + 1) }
  }
  return undefined
}
