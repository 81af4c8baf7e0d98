import { Component, type ReactNode } from 'react'

/** Shows a message in place of children that fail to render; the rest of the page stays. */
export class ErrorBoundary extends Component<
  { readonly children: ReactNode },
  { readonly hasFailed: boolean }
> {
  override readonly state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <p className="failed" role="alert">
        The page cannot show this. The error is in the browser's console; the rest of the page still works.
      </p>
    )
  }
}
