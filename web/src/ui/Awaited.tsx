import type { ReactNode } from 'react'
import type { Loadable } from '../core/loadable'

interface AwaitedProps<T> {
  readonly of: Loadable<T>
  /** Shown while the value loads, for example `Loading the record`. */
  readonly doing: string
  readonly children: (value: T) => ReactNode
}

/** A loaded value, or a note that it is loading or why that failed. */
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
