/** Server-sent events over `fetch`, which can send an authorization header. Does not reconnect: `listen` does. */

import type { Source } from './stream'

export type FetchStream = (
  url: string,
  init?: { signal?: AbortSignal; headers?: Record<string, string> },
) => Promise<Response>

export class FetchSource extends EventTarget implements Source {
  readonly #stop = new AbortController()

  constructor(fetch: FetchStream, url: string) {
    super()
    this.#read(fetch, url).catch(() => {
      if (!this.#stop.signal.aborted) this.dispatchEvent(new Event('error'))
    })
  }

  close(): void {
    this.#stop.abort()
  }

  async #read(fetch: FetchStream, url: string): Promise<void> {
    const response = await fetch(url, { signal: this.#stop.signal })
    if (!response.ok || !response.body) throw new Error(`answered ${response.status}`)
    this.dispatchEvent(new Event('open'))
    let buffer = ''
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (buffer + part.value).split('\n\n')
      buffer = events.pop() ?? ''
      for (const event of events) this.#dispatch(event)
    }
    throw new Error('the stream ended')
  }

  #dispatch(text: string): void {
    const fields = new Map<string, string>()
    for (const line of text.split('\n')) {
      const colon = line.indexOf(': ')
      if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2))
    }
    const type = fields.get('event')
    if (type) this.dispatchEvent(new MessageEvent(type, { data: fields.get('data') ?? '' }))
  }
}
