/** Notifies about every stored event: by server-sent events, or by polling if these fail. */

import type { Touched } from './types'

/** `live`: server-sent events; `polling`: a request each second; `lost`: the service does not respond. */
export type Connection = 'live' | 'polling' | 'lost'

export interface Listener {
  /** Undefined if it is not known what changed. */
  readonly onChange: (change: Touched | undefined) => void
  readonly onConnection: (connection: Connection) => void
}

/** The part of the browser's EventSource that is used here. */
export interface Source {
  addEventListener(type: string, listen: (event: Event) => void): void
  close(): void
}

interface StreamOptions {
  readonly open: () => Source
  /** The number of stored events. */
  readonly storedEvents: () => Promise<number>
  readonly pollEveryMs: number
  /** The interval of attempts to reopen a failed stream: browsers do not retry a response that is not a stream. */
  readonly reopenEveryMs: number
}

/** Starts to listen; returns a function that stops it. */
export function listen(options: StreamOptions, listener: Listener): () => void {
  const poll = polling(options, listener)
  let source: Source | undefined
  let reopening: ReturnType<typeof setTimeout> | undefined

  const open = () => {
    source?.close()
    source = options.open()
    source.addEventListener('open', () => {
      clearTimeout(reopening)
      listener.onConnection('live')
      if (poll.stop()) listener.onChange(undefined) // some may have been missed
    })
    source.addEventListener('change', (event) => listener.onChange(touchedBy(event)))
    source.addEventListener('missed', () => listener.onChange(undefined))
    source.addEventListener('error', () => {
      clearTimeout(reopening)
      reopening = setTimeout(open, options.reopenEveryMs)
      poll.start()
    })
  }

  open()
  return () => {
    source?.close()
    poll.stop()
    clearTimeout(reopening)
  }
}

interface Polling {
  readonly start: () => void
  /** Returns whether it was running. */
  readonly stop: () => boolean
}

function polling(
  { storedEvents, pollEveryMs }: StreamOptions,
  { onChange, onConnection }: Listener,
): Polling {
  let timer: ReturnType<typeof setInterval> | undefined
  let known: number | undefined

  const ask = async () => {
    const stored = await storedEvents().catch(() => undefined)
    if (!timer) return // stopped meanwhile
    onConnection(stored === undefined ? 'lost' : 'polling')
    if (stored !== undefined && stored !== known) onChange(undefined)
    known = stored
  }
  return {
    start: () => {
      if (timer) return
      timer = setInterval(ask, pollEveryMs)
      void ask()
    },
    stop: () => {
      const wasOn = timer !== undefined
      clearInterval(timer)
      timer = undefined
      known = undefined
      return wasOn
    },
  }
}

function touchedBy(event: Event): Touched | undefined {
  try {
    const { jobs, datasets } = JSON.parse((event as MessageEvent<string>).data) as Touched
    return Array.isArray(jobs) && Array.isArray(datasets) ? { jobs, datasets } : undefined
  } catch {
    return undefined
  }
}
