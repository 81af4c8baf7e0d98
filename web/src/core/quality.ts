/** Reads producers' assertions and tests. One that does not match the spec reads as absent. */

import { text } from './facets'

export interface Verdicts {
  readonly passed: number
  /** The checks that failed: `not_null of price`. */
  readonly failed: readonly string[]
}

/** Source: OpenLineage DataQualityAssertionsDatasetFacet 1-0-1, TestRunFacet 1-0-1 */
export function verdicts(assertions: readonly unknown[], tests: readonly unknown[]): Verdicts {
  const checks = [
    ...assertions.map((each) => ({ label: assertionLabel(each), success: success(each) })),
    ...tests.map((each) => ({ label: text(each, 'name') ?? 'a test', success: testSuccess(each) })),
  ]
  const failed = checks.filter((each) => each.success === false).map(({ label }) => label)
  return { passed: checks.filter((each) => each.success === true).length, failed }
}

function success(assertion: unknown): unknown {
  return typeof assertion === 'object' && assertion !== null ? Reflect.get(assertion, 'success') : undefined
}

/** Undefined if the test was skipped; treats values outside the spec as the service does. */
function testSuccess(test: unknown): boolean | undefined {
  const status = text(test, 'status')?.toLowerCase() ?? 'skip'
  return status.startsWith('skip') ? undefined : !['fail', 'failed', 'failure', 'error'].includes(status)
}

function assertionLabel(assertion: unknown): string {
  const [what, column] = [text(assertion, 'assertion') ?? 'an assertion', text(assertion, 'column')]
  return column === undefined ? what : `${what} of ${column}`
}
