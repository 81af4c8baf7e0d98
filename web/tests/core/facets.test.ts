import { expect, test } from 'vitest'
import { runError } from '../../src/core/facets'

test('the error of a run is what its facet says', () => {
  const facet = { message: 'boom', programmingLanguage: 'python', stackTrace: 'tb' }

  expect(runError({ errorMessage: facet })).toEqual({ message: 'boom', stackTrace: 'tb' })
})

test('what a Spark application died of is its error too', () => {
  const facet = { message: 'boom', stackTrace: 'at org.apache.spark' }

  expect(runError({ 'spark.exception': facet })).toEqual(facet)
  expect(runError({ errorMessage: { message: 'told' }, 'spark.exception': facet })?.message).toBe('told')
})

test.each([undefined, null, 'text', 7, [], {}, { message: 7 }])('%j is no error facet', (facet) => {
  expect(runError({ errorMessage: facet })).toBeUndefined()
})
