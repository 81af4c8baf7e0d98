/** Moves the keyboard focus to what the keyboard opened, once that is rendered. */

export type Place = 'details' | 'story'

/** A pending move of the focus to a place: taken once, and dropped if the user has moved the focus meanwhile. */
export class FocusTransfer {
  #place: Place | undefined
  readonly #from = document.activeElement

  constructor(place: Place) {
    this.#place = place
  }

  /** Whether the focus is to move to this place now; true at most once. */
  take(place: Place): boolean {
    if (this.#place !== place) return false
    this.#place = undefined
    return [this.#from, document.body].includes(document.activeElement)
  }
}

/** Whether a key, not a pointer, made this click. Source: UI Events, click: `detail` counts the clicks of a pointer */
export function isByKey({ detail }: { readonly detail: number }): boolean {
  return detail === 0
}

/** Focuses an element that is not reachable by Tab. */
export function focusOn(place: Element | null | undefined): void {
  if (!(place instanceof HTMLElement)) return
  place.tabIndex = -1
  place.focus()
}
