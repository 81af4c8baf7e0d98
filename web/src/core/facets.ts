/** Reads the few facets that the page shows. A facet of any other shape than the spec's reads as absent. */

import type { Facets } from '../api/types'

export interface RunError {
  readonly message: string
  readonly stackTrace: string | undefined
}

/** Source: OpenLineage ErrorMessageRunFacet 1-0-0; Spark's agent says the same in a facet of its own. */
export function runError(facets: Facets): RunError | undefined {
  for (const facet of [facets.errorMessage, facets['spark.exception']]) {
    const message = text(facet, 'message')
    if (message !== undefined) return { message, stackTrace: text(facet, 'stackTrace') }
  }
  return undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** A field of text. */
export function text(value: unknown, name: string): string | undefined {
  const found = field(value, name)
  return typeof found === 'string' ? found : undefined
}
