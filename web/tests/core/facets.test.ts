import { expect, test } from 'vitest'
import { runError } from '../../src/core/facets'

test('the error of a run is what its facet says', () => {
  const facet = { message: 'boom', programmingLanguage: 'python', stackTrace: 'tb' }

  expect(runError({ errorMessage: facet })).toEqual({ message: 'boom', stackTrace: 'tb' })
})

test.each([undefined, null, 'text', 7, [], {}, { message: 7 }])('%j is no error facet', (facet) => {
  expect(runError({ errorMessage: facet })).toBeUndefined()
})
