/** Moves the keyboard focus to what the keyboard opened, once that is rendered. */

export type FocusTarget = 'details' | 'story'

/** A pending move of the focus: taken once, and dropped if the user has moved the focus meanwhile. */
export class FocusTransfer {
  #target: FocusTarget | undefined
  readonly #from = document.activeElement

  constructor(target: FocusTarget) {
    this.#target = target
  }

  /** Whether the focus is to move to this target now; true at most once. */
  take(target: FocusTarget): boolean {
    if (this.#target !== target) return false
    this.#target = undefined
    return [this.#from, document.body].includes(document.activeElement)
  }
}

/** Whether a key, not a pointer, made this click. Source: UI Events, click: `detail` counts the clicks of a pointer */
export function isByKey({ detail }: { readonly detail: number }): boolean {
  return detail === 0
}

/** Focuses an element that is not reachable by Tab. */
export function focusOn(element: Element | null | undefined): void {
  if (!(element instanceof HTMLElement)) return
  element.tabIndex = -1
  element.focus()
}
