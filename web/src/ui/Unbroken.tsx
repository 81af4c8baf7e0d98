import { Component, type ReactNode } from 'react'

/** Where something cannot be drawn, that alone is missing: what stands around stays. */
export class Unbroken extends Component<{ readonly children: ReactNode }, { readonly isBroken: boolean }> {
  override readonly state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override render() {
    if (!this.state.isBroken) return this.props.children
    return (
      <p className="failed" role="alert">
        The page cannot show this. Its fault is in the browser's console; the rest of the page still works.
      </p>
    )
  }
}
