/** Keeps the identity of items across answers: one with the same content as before is the same object, so React skips it. */
export class Unchanged<Item extends { readonly id: string }> {
  #known: ReadonlyMap<string, { readonly item: Item; readonly text: string }> = new Map()

  /** The items in their order; each that the last call had with the same content, as the object that it gave. */
  kept(items: readonly Item[]): readonly Item[] {
    const known = items.map((item) => {
      const [before, text] = [this.#known.get(item.id), JSON.stringify(item)]
      return before?.text === text ? before : { item, text }
    })
    this.#known = new Map(known.map((each) => [each.item.id, each]))
    return known.map(({ item }) => item)
  }
}
