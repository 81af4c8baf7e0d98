/** Reads producers' assertions and tests. One that does not match the spec reads as absent. */

import { text } from './facets'

interface Verdicts {
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

/** As the service reads a status: the spec has `pass`, `fail` and `skip`, the others are those of other tools. */
const SUCCESS_OF_STATUS: ReadonlyMap<string, boolean> = new Map([
  ...['pass', 'passed', 'success', 'succeeded', 'ok'].map((status) => [status, true] as const),
  ...['fail', 'failed', 'failure', 'error', 'runtime error'].map((status) => [status, false] as const),
])

/** Undefined if the test was not carried out, or its status is unknown. */
function testSuccess(test: unknown): boolean | undefined {
  return SUCCESS_OF_STATUS.get(text(test, 'status')?.toLowerCase() ?? '')
}

function assertionLabel(assertion: unknown): string {
  const [what, column] = [text(assertion, 'assertion') ?? 'an assertion', text(assertion, 'column')]
  return column === undefined ? what : `${what} of ${column}`
}
