/** A value that is loading, failed to load, or is loaded. */
export type Loadable<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly message: string }
  | { readonly state: 'ready'; readonly value: T }

export const LOADING = { state: 'loading' } as const

export function ready<T>(value: T): Loadable<T> {
  return { state: 'ready', value }
}

export function failed(error: unknown): { readonly state: 'failed'; readonly message: string } {
  return { state: 'failed', message: error instanceof Error ? error.message : String(error) }
}
