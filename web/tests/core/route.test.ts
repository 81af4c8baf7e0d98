import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NodeId } from '../../src/core/ids'
import {
  CATALOG,
  DRIFT,
  FAILURES,
  formatRoute,
  HOME,
  KINDS,
  LAST_STATES,
  parseRoute,
  QUESTIONS,
  RECORD,
  type Route,
} from '../../src/core/route'

const name = fc.string({ minLength: 1, unit: 'grapheme' })

test('a route is the same after formatting and parsing, whatever the names contain', () => {
  fc.assert(
    fc.property(
      name,
      fc.option(name, { nil: undefined }),
      fc.subarray([...QUESTIONS]),
      fc.option(fc.date({ noInvalidDate: true }), { nil: undefined }),
      fc.boolean(),
      (node, column, asked, at, isDrop) => {
        const since = at?.toISOString()
        const route: Route = { view: 'graph', node: node as NodeId, column, asked, since, isDrop }

        expect(parseRoute(formatRoute(route))).toEqual(route)
      },
    ),
  )
})

test('so are those of a machine and the other views', () => {
  fc.assert(
    fc.property(fc.option(name, { nil: undefined }), (machine) => {
      expect(parseRoute(formatRoute({ view: 'record', machine }))).toEqual({ view: 'record', machine })
    }),
  )
  expect(parseRoute(formatRoute(DRIFT))).toEqual(DRIFT)
  expect(parseRoute(formatRoute(FAILURES))).toEqual(FAILURES)
})

test('so is that of the catalog', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS),
      fc.option(name, { nil: undefined }),
      fc.option(fc.constantFrom(...LAST_STATES), { nil: undefined }),
      (kind, namespace, last) => {
        const state = kind === 'jobs' ? last : undefined
        const route: Route = { view: 'catalog', kind, namespace, state }

        expect(parseRoute(formatRoute(route))).toEqual(route)
      },
    ),
  )
  expect(formatRoute(CATALOG)).toBe('#view=catalog')
})

test.each(['#view=catalog&kind=tables&state=LOST', '#view=catalog&namespace='])(
  '%j shows all jobs',
  (hash) => {
    expect(parseRoute(hash)).toEqual(CATALOG)
  },
)

test('so is that of an entry of the log', () => {
  fc.assert(
    fc.property(fc.nat(), (index) => {
      expect(parseRoute(formatRoute({ view: 'entry', index }))).toEqual({ view: 'entry', index })
    }),
  )
})

test.each(['', '-1', '1.5', 'x', '1e3'])('with the invalid entry %j the record is shown', (index) => {
  expect(parseRoute(`#view=entry&index=${index}`)).toEqual(RECORD)
})

test('unknown questions and invalid times in the address are ignored', () => {
  expect(parseRoute('#node=job:a:b&asked=nonsense,impact,why,why')).toMatchObject({
    asked: ['why', 'impact'],
  })
  expect(parseRoute('#node=job:a:b&asked=changes&since=tuesday')).toMatchObject({ since: undefined })
})

test('a day in the address is converted to a time with a zone, which the service requires', () => {
  expect(parseRoute('#node=job:a:b&since=2026-05-22')).toMatchObject({ since: '2026-05-22T00:00:00.000Z' })
})

test.each(['', '#', '#column=x', '#node=', '#nonsense', '#view=nonsense'])(
  '%j shows the whole graph',
  (hash) => {
    expect(parseRoute(hash)).toEqual(HOME)
  },
)
