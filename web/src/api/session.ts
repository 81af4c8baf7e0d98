/** The reader's API key or token: stored until the tab is closed, and sent with every request. */

import type { Fetch } from './client'
import { FetchSource, type FetchStream } from './fetchSource'
import type { Source } from './stream'

const KEY = 'headwater-token'

/** `ok`: no request was refused; `required`: the service requires a token; `rejected`: it rejected the token. */
type AuthState = 'ok' | 'required' | 'rejected'

type TokenStorage = Pick<Storage, 'getItem' | 'setItem'>

interface SessionOptions {
  readonly storage: TokenStorage
  readonly fetch: FetchStream
  /** Reloads the page, so that nothing stays that was loaded for another caller. */
  readonly reload: () => void
}

export class Session {
  readonly #options: SessionOptions
  readonly #listeners = new Set<() => void>()
  #authState: AuthState = 'ok'

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** `window.fetch` with the token; once the service has refused a request, no more are sent. */
  readonly fetch: Fetch & FetchStream = async (url, init) => {
    if (this.#authState !== 'ok') throw new Error('nobody is signed in')
    const token = this.#token()
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
    const response = await this.#options.fetch(url, { ...init, headers })
    if (response.status === 401) this.#set(token ? 'rejected' : 'required')
    return response
  }

  readonly authState = (): AuthState => this.#authState

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly signIn = (token: string): void => {
    this.#options.storage.setItem(KEY, token.trim())
    this.#options.reload()
  }

  /** A stream of events: the browser's `EventSource`, or with a token a `FetchSource`, which can send it. */
  stream(url: string, eventSource: () => Source): Source {
    const isFetched = this.#token() !== null || this.#authState !== 'ok'
    return isFetched ? new FetchSource(this.fetch, url) : eventSource()
  }

  #token(): string | null {
    return this.#options.storage.getItem(KEY)
  }

  #set(state: AuthState): void {
    this.#authState = state
    for (const listener of this.#listeners) listener()
  }
}
