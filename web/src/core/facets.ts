/** Reads the facets that the page shows. A facet that does not match the spec reads as absent. */

import type { Owner } from '../api/answers'
import type { Facets } from '../api/types'

export interface RunError {
  readonly message: string
  /** From the stack trace, unless the message has it: the last cause, or the first line with the exception's class. */
  readonly reason: string | undefined
  readonly stackTrace: string | undefined
}

/** Source: OpenLineage ErrorMessageRunFacet 1-0-0; Spark's agent has a facet of its own for errors. */
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
  const reason = last ?? first.trim()
  const isExtra = last !== undefined || reason.startsWith(`${message}:`)
  return isExtra && !message.includes(reason.replace('Caused by: ', '')) ? reason : undefined
}

/** The owners of a job or dataset. Source: OpenLineage OwnershipJobFacet 1-0-1, OwnershipDatasetFacet 1-0-1 */
export function ownersIn(facets: Facets): Owner[] {
  const owners = field(facets.ownership, 'owners')
  return (Array.isArray(owners) ? owners : []).flatMap((owner) => {
    const name = text(owner, 'name')
    return name ? [{ name, type: text(owner, 'type') ?? null }] : []
  })
}

/** A job's query. Source: OpenLineage SQLJobFacet 1-1-0 */
export function sqlIn(facets: Facets): string | undefined {
  return text(facets.sql, 'query') || undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** A field of an object if it is a string. */
export function text(value: unknown, name: string): string | undefined {
  const found = field(value, name)
  return typeof found === 'string' ? found : undefined
}
