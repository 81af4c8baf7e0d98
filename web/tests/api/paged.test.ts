import { expect, test } from 'vitest'
import { paged } from '../../src/api/paged'

function list(size: number) {
  const asked: [number, number][] = []
  const all = Array.from({ length: size }, (_, place) => place)
  const ask = async (limit: number, offset: number) => {
    asked.push([limit, offset])
    return { items: all.slice(offset, offset + limit), totalCount: size }
  }
  return { asked, ask }
}

test('a few items are one page', async () => {
  const { asked, ask } = list(60)

  expect((await paged(10, ask)).items).toHaveLength(10)
  expect((await paged(10, ask)).totalCount).toBe(60)
  expect(asked).toEqual([
    [10, 0],
    [10, 0],
  ])
})

test('more items than the page limit take several', async () => {
  const { asked, ask } = list(2_300)

  const { items } = await paged(5_000, ask)

  expect(items).toEqual(Array.from({ length: 2_300 }, (_, place) => place))
  expect(asked.map(([, offset]) => offset)).toEqual([0, 1_000, 2_000])
})

test('a list that became shorter meanwhile ends', async () => {
  const ask = async (_: number, offset: number) => ({ items: offset === 0 ? [1, 2] : [], totalCount: 3 })

  expect(await paged(10, ask)).toEqual({ items: [1, 2], totalCount: 2 })
})
