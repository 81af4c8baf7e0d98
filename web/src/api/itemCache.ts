/** Keeps the identity of items across answers: an item with unchanged content is the same object, so React skips it. */
export class ItemCache<Item extends { readonly id: string }> {
  #known: ReadonlyMap<string, { readonly item: Item; readonly text: string }> = new Map()

  /** The items in the same order, with unchanged ones replaced by the objects that the last call returned. */
  reuse(items: readonly Item[]): readonly Item[] {
    const known = items.map((item) => {
      const [before, text] = [this.#known.get(item.id), JSON.stringify(item)]
      return before?.text === text ? before : { item, text }
    })
    this.#known = new Map(known.map((each) => [each.item.id, each]))
    return known.map(({ item }) => item)
  }
}
