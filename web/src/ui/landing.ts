/** Where the keyboard goes on, once what it opened is there. */

export type Place = 'details' | 'story'

/** A way that one takes once. */
export class Landing {
  #place: Place | undefined

  constructor(place: Place) {
    this.#place = place
  }

  /** Whether the keyboard is to go on at this place. */
  take(place: Place): boolean {
    const isHere = this.#place === place
    if (isHere) this.#place = undefined
    return isHere
  }
}

/** Whether a key, and no pointer, made this click. Source: UI Events, click: `detail` counts the clicks of a pointer */
export function isByKey({ detail }: { readonly detail: number }): boolean {
  return detail === 0
}
