import { expect, test } from 'vitest'
import { paged } from '../../src/api/paged'

function list(size: number) {
  const requested: [number, number][] = []
  const all = Array.from({ length: size }, (_, place) => place)
  const fetchPage = async (limit: number, offset: number) => {
    requested.push([limit, offset])
    return { items: all.slice(offset, offset + limit), totalCount: size }
  }
  return { requested, fetchPage }
}

test('a few items are one page', async () => {
  const { requested, fetchPage } = list(60)

  expect((await paged(10, fetchPage)).items).toHaveLength(10)
  expect((await paged(10, fetchPage)).totalCount).toBe(60)
  expect(requested).toEqual([
    [10, 0],
    [10, 0],
  ])
})

test('more items than the page limit take several', async () => {
  const { requested, fetchPage } = list(2_300)

  const { items } = await paged(5_000, fetchPage)

  expect(items).toEqual(Array.from({ length: 2_300 }, (_, place) => place))
  expect(requested.map(([, offset]) => offset)).toEqual([0, 1_000, 2_000])
})

test('a list that became shorter meanwhile ends', async () => {
  const fetchPage = async (_: number, offset: number) => ({
    items: offset === 0 ? [1, 2] : [],
    totalCount: 3,
  })

  expect(await paged(10, fetchPage)).toEqual({ items: [1, 2], totalCount: 2 })
})
