/** Reads what producers assert and test. What has any other shape than the spec's reads as absent. */

import { text } from './facets'

export interface Verdicts {
  readonly passed: number
  /** The checks that failed: `not_null of price`. */
  readonly failed: readonly string[]
}

/** Source: OpenLineage DataQualityAssertionsDatasetFacet 1-0-1, TestRunFacet 1-0-1 */
export function verdicts(assertions: readonly unknown[], tests: readonly unknown[]): Verdicts {
  const checks = [
    ...assertions.map((each) => ({ words: asserted(each), success: success(each) })),
    ...tests.map((each) => ({ words: text(each, 'name') ?? 'a test', success: testSuccess(each) })),
  ]
  const failed = checks.filter((each) => each.success === false).map(({ words }) => words)
  return { passed: checks.filter((each) => each.success === true).length, failed }
}

function success(assertion: unknown): unknown {
  return typeof assertion === 'object' && assertion !== null ? Reflect.get(assertion, 'success') : undefined
}

/** Undefined for one that was skipped; the service judges other words than the spec's in the same way. */
function testSuccess(test: unknown): boolean | undefined {
  const status = text(test, 'status')?.toLowerCase() ?? 'skip'
  return status.startsWith('skip') ? undefined : !['fail', 'failed', 'failure', 'error'].includes(status)
}

function asserted(assertion: unknown): string {
  const [what, column] = [text(assertion, 'assertion') ?? 'an assertion', text(assertion, 'column')]
  return column === undefined ? what : `${what} of ${column}`
}
