/** Who asks: an API key or token that is kept until the tab is closed, and sent with every question. */

import type { Fetch } from './client'
import { FetchSource, type FetchStream } from './fetchSource'
import type { Source } from './stream'

const KEY = 'headwater-token'

/** `open`: whatever is known is enough; `asked`: the service asks who we are; `refused`: it does not know the token. */
export type Admission = 'open' | 'asked' | 'refused'

type RevisionCache = Pick<Storage, 'getItem' | 'setItem'>

export interface SessionOptions {
  readonly kept: RevisionCache
  readonly fetch: FetchStream
  /** Begins anew, so that nothing stays that another was shown. */
  readonly begin: () => void
}

export class Session {
  readonly #options: SessionOptions
  readonly #listeners = new Set<() => void>()
  #admission: Admission = 'open'

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** As `window.fetch`, but says who asks, and asks nothing more once that is not enough. */
  readonly fetch: Fetch & FetchStream = async (url, init) => {
    if (this.#admission !== 'open') throw new Error('nobody is signed in')
    const token = this.#token()
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
    const response = await this.#options.fetch(url, { ...init, headers })
    if (response.status === 401) this.#become(token ? 'refused' : 'asked')
    return response
  }

  readonly admission = (): Admission => this.#admission

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly signIn = (token: string): void => {
    this.#options.kept.setItem(KEY, token.trim())
    this.#options.begin()
  }

  /** A stream of events; a browser's own cannot say who asks, so with a token it is one of ours. */
  stream(url: string, own: () => Source): Source {
    const isOurs = this.#token() !== null || this.#admission !== 'open'
    return isOurs ? new FetchSource(this.fetch, url) : own()
  }

  #token(): string | null {
    return this.#options.kept.getItem(KEY)
  }

  #become(admission: Admission): void {
    this.#admission = admission
    for (const tell of this.#listeners) tell()
  }
}
