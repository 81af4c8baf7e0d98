/** Where the keyboard goes on, once what it opened is there. */

export type Place = 'details' | 'story'

/** A way that one takes once, and not once one has gone elsewhere. */
export class Landing {
  #place: Place | undefined
  readonly #from = document.activeElement

  constructor(place: Place) {
    this.#place = place
  }

  /** Whether the keyboard is to go on at this place. */
  take(place: Place): boolean {
    if (this.#place !== place) return false
    this.#place = undefined
    return [this.#from, document.body].includes(document.activeElement)
  }
}

/** Whether a key, and no pointer, made this click. Source: UI Events, click: `detail` counts the clicks of a pointer */
export function isByKey({ detail }: { readonly detail: number }): boolean {
  return detail === 0
}

/** Puts the focus on what no Tab comes to. */
export function focusOn(place: Element | null | undefined): void {
  if (!(place instanceof HTMLElement)) return
  place.tabIndex = -1
  place.focus()
}
