/** Reads the few facets that the page shows. A facet of any other shape than the spec's reads as absent. */

import type { Owner } from '../api/answers'
import type { Facets } from '../api/types'

export interface RunError {
  readonly message: string
  /** What the stack trace says beyond the message: what it began with, or else what Java names as the exception. */
  readonly reason: string | undefined
  readonly stackTrace: string | undefined
}

/** Source: OpenLineage ErrorMessageRunFacet 1-0-0; Spark's agent says the same in a facet of its own. */
export function runError(facets: Facets): RunError | undefined {
  for (const facet of [facets.errorMessage, facets['spark.exception']]) {
    const message = text(facet, 'message')
    if (message === undefined) continue
    const stackTrace = text(facet, 'stackTrace')
    return { message, reason: stackTrace && reasonIn(stackTrace, message), stackTrace }
  }
  return undefined
}

const CAUSE = /^\s*(Caused by: .+)$/gm

function reasonIn(stackTrace: string, message: string): string | undefined {
  const [first = ''] = stackTrace.split('\n', 1)
  const last = [...stackTrace.matchAll(CAUSE)].at(-1)?.[1]
  const said = last ?? first.trim()
  const isNews = last !== undefined || said.startsWith(`${message}:`)
  return isNews && !message.includes(said.replace('Caused by: ', '')) ? said : undefined
}

/** Who owns a job or dataset. Source: OpenLineage OwnershipJobFacet 1-0-1, OwnershipDatasetFacet 1-0-1 */
export function ownersIn(facets: Facets): Owner[] {
  const owners = field(facets.ownership, 'owners')
  return (Array.isArray(owners) ? owners : []).flatMap((owner) => {
    const name = text(owner, 'name')
    return name ? [{ name, type: text(owner, 'type') ?? null }] : []
  })
}

/** What a job asks of its engine. Source: OpenLineage SQLJobFacet 1-1-0 */
export function sqlIn(facets: Facets): string | undefined {
  return text(facets.sql, 'query') || undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** A field of text. */
export function text(value: unknown, name: string): string | undefined {
  const found = field(value, name)
  return typeof found === 'string' ? found : undefined
}
