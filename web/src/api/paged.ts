/** Lists that the service returns in pages. */

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly totalCount: number
}

/** The service's limit of a page. */
export const MOST_AT_ONCE = 1_000

/** The first `count` items, fetched in as many pages as needed. */
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
