import { expect, test } from 'vitest'
import { ownersIn, runError, sqlIn } from '../../src/core/facets'

test('the error of a run is read from its facet', () => {
  const facet = { message: 'boom', programmingLanguage: 'python', stackTrace: 'tb' }

  expect(runError({ errorMessage: facet })).toEqual({ message: 'boom', reason: undefined, stackTrace: 'tb' })
})

test('the exception facet of a Spark application is an error, too', () => {
  const facet = { message: 'boom', stackTrace: 'at org.apache.spark' }

  expect(runError({ 'spark.exception': facet })).toEqual({ ...facet, reason: undefined })
  expect(runError({ errorMessage: { message: 'told' }, 'spark.exception': facet })?.message).toBe('told')
})

const FLINK = 'org.apache.flink.runtime.JobException'
const SUPPRESSED = `${FLINK}: Recovery is suppressed`

test.each([
  ['the exception, where the message is only its class', `${SUPPRESSED}\n\tat a.B`, SUPPRESSED],
  [
    'the root cause',
    `${SUPPRESSED}\n\tat a.B\nCaused by: a.Failed\n\tat a.C\nCaused by: java.io.IOException: no space\n\t... 3 more`,
    'Caused by: java.io.IOException: no space',
  ],
  ['nothing, where the message says it all', `${FLINK}\n\tat a.B`, undefined],
  ['nothing of a trace of another kind', 'Traceback (most recent call last):\n  File "x"', undefined],
])('the reason in a stack trace is %s', (_, stackTrace, reason) => {
  expect(runError({ errorMessage: { message: FLINK, stackTrace } })?.reason).toBe(reason)
})

test.each([undefined, null, 'text', 7, [], {}, { message: 7 }])('%j is no error facet', (facet) => {
  expect(runError({ errorMessage: facet })).toBeUndefined()
})

test('owners are read from the facet, with their type if it has one', () => {
  const owners = [{ name: 'team:lake', type: 'OWNER' }, { name: 'anna' }, { type: 'OWNER' }, 7]

  expect(ownersIn({ ownership: { owners } })).toEqual([
    { name: 'team:lake', type: 'OWNER' },
    { name: 'anna', type: null },
  ])
})

test.each([undefined, null, 7, { owners: {} }])('of the facet %j there are no owners', (ownership) => {
  expect(ownersIn({ ownership })).toEqual([])
})

test.each([
  [{ sql: { query: 'SELECT 1' } }, 'SELECT 1'],
  [{ sql: { query: '' } }, undefined],
  [{ sql: 'SELECT 1' }, undefined],
  [{}, undefined],
])('the SQL of %j is %s', (facets, sql) => {
  expect(sqlIn(facets)).toBe(sql)
})
