/** Reads what producers assert and measure. What has any other shape than the spec's reads as absent. */

import { text } from './facets'

export interface Verdicts {
  readonly passed: number
  /** The assertions that failed: `not_null of price`. */
  readonly failed: readonly string[]
}

/** Source: OpenLineage DataQualityAssertionsDatasetFacet 1-0-1 */
export function verdicts(assertions: readonly unknown[]): Verdicts {
  const failed = assertions.filter((each) => success(each) === false)
  const passed = assertions.filter((each) => success(each) === true).length
  return { passed, failed: failed.map(words) }
}

function success(assertion: unknown): unknown {
  return typeof assertion === 'object' && assertion !== null ? Reflect.get(assertion, 'success') : undefined
}

function words(assertion: unknown): string {
  const [what, column] = [text(assertion, 'assertion') ?? 'an assertion', text(assertion, 'column')]
  return column === undefined ? what : `${what} of ${column}`
}
