import type { ReactNode } from 'react'
import type { Loadable } from '../core/loadable'

interface AwaitedProps<T> {
  readonly of: Loadable<T>
  /** What is being done meanwhile: `Loading the record`. */
  readonly doing: string
  readonly children: (value: T) => ReactNode
}

/** What has come, that it is on its way, or why it does not come. */
export function Awaited<T>({ of, doing, children }: AwaitedProps<T>) {
  switch (of.state) {
    case 'loading':
      return (
        <p className="awaited muted" role="status">
          {doing}…
        </p>
      )
    case 'failed':
      return (
        <p className="failed" role="alert">
          {of.message}
        </p>
      )
    case 'ready':
      return children(of.value)
  }
}
