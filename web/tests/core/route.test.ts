import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NodeId } from '../../src/core/ids'
import { formatRoute, HOME, parseRoute } from '../../src/core/route'

const name = fc.string({ minLength: 1, unit: 'grapheme' })

test('a route survives the address, whatever the names hold', () => {
  fc.assert(
    fc.property(name, fc.option(name, { nil: undefined }), (node, column) => {
      const route = { node: node as NodeId, column }

      expect(parseRoute(formatRoute(route))).toEqual(route)
    }),
  )
})

test.each(['', '#', '#column=x', '#node=', '#nonsense'])('%j shows the whole graph', (hash) => {
  expect(parseRoute(hash)).toEqual(HOME)
})
