/** Paged lists of the service. */

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly totalCount: number
}

/** The service's limit, in items. */
const MAX_PAGE_SIZE = 1_000

/** The first `count` items, fetched in as many pages as needed. */
export async function paged<Item>(
  count: number,
  fetchPage: (limit: number, offset: number) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = []
  let totalCount = Number.POSITIVE_INFINITY
  while (items.length < Math.min(count, totalCount)) {
    const page = await fetchPage(Math.min(count - items.length, MAX_PAGE_SIZE), items.length)
    totalCount = page.items.length === 0 ? items.length : page.totalCount
    items.push(...page.items)
  }
  return { items, totalCount }
}
