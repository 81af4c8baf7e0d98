/** Reads the few facets that the page shows. A facet of any other shape than the spec's reads as absent. */

import type { Facets, Named } from '../api/types'

/**
 * The other names of a dataset: catalog tables first, and among these the most qualified.
 *
 * Source: OpenLineage SymlinksDatasetFacet 1-0-1
 */
export function symlinks(facets: Facets | undefined): Named[] {
  const identifiers = field(facets?.symlinks, 'identifiers')
  if (!Array.isArray(identifiers)) return []
  const named = identifiers.flatMap((identifier: unknown) => {
    const name = text(identifier, 'name')
    const rank = text(identifier, 'type') === 'TABLE' ? (name?.split('.').length ?? 0) : 0
    return name ? [{ rank, name, namespace: text(identifier, 'namespace') ?? '' }] : []
  })
  return named.sort((a, b) => b.rank - a.rank).map(({ namespace, name }) => ({ namespace, name }))
}

/** Source: OpenLineage DatasetTypeDatasetFacet 1-0-1 */
export function isDashboard(facets: Facets | undefined): boolean {
  return text(facets?.datasetType, 'datasetType') === 'DASHBOARD'
}

export interface RunError {
  readonly message: string
  readonly stackTrace: string | undefined
}

/** Source: OpenLineage ErrorMessageRunFacet 1-0-0 */
export function runError(facets: Facets): RunError | undefined {
  const message = text(facets.errorMessage, 'message')
  if (message === undefined) return undefined
  return { message, stackTrace: text(facets.errorMessage, 'stackTrace') }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** A field of text. */
export function text(value: unknown, name: string): string | undefined {
  const found = field(value, name)
  return typeof found === 'string' ? found : undefined
}
