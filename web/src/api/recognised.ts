/** What comes again with each answer: what says the same as before is the very object from before, not to be drawn anew. */
export class Recognised<Item extends { readonly id: string }> {
  #items: ReadonlyMap<string, Item> = new Map()

  /** The items in their order, in the place of what the last call gave. */
  all(items: readonly Item[]): readonly Item[] {
    const known = items.map((item) => {
      const before = this.#items.get(item.id)
      return before !== undefined && JSON.stringify(before) === JSON.stringify(item) ? before : item
    })
    this.#items = new Map(known.map((item) => [item.id, item]))
    return known
  }
}
