/** Lists that the service tells a page at a time. */

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly totalCount: number
}

/** The service tells no more at once. */
export const MOST_AT_ONCE = 1_000

/** The first `count` items, asked for in as many pages as that takes. */
export async function paged<Item>(
  count: number,
  ask: (limit: number, offset: number) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = []
  let totalCount = Number.POSITIVE_INFINITY
  while (items.length < Math.min(count, totalCount)) {
    const page = await ask(Math.min(count - items.length, MOST_AT_ONCE), items.length)
    totalCount = page.items.length === 0 ? items.length : page.totalCount
    items.push(...page.items)
  }
  return { items, totalCount }
}
