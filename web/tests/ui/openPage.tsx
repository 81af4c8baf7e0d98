import { cleanup, render } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import type { DetachedWindowAPI } from 'happy-dom'
import { afterEach, vi } from 'vitest'
import { Client } from '../../src/api/client'
import { Feed } from '../../src/api/feed'
import type { Listener } from '../../src/api/stream'
import { layout } from '../../src/core/layout'
import type { Shape } from '../../src/core/shape'
import { App } from '../../src/ui/App'
import { lakehouse, type Service } from '../lakehouse'

// Without a layout engine every element is 0 pixels wide, and animated moves of the view fail.
const { happyDOM } = window as unknown as { happyDOM: DetachedWindowAPI }
happyDOM.settings.device.prefersReducedMotion = 'reduce'

let feed: Feed | undefined

afterEach(() => {
  cleanup()
  feed?.stop()
  window.location.hash = ''
})

interface Opening {
  readonly service?: Service
  readonly hash?: string
  readonly asOf?: string
}

/** The whole page over an in-memory service; `listener` gives the callbacks of the stream. */
export function openPage({ service = lakehouse(), hash = '', asOf }: Opening = {}) {
  window.location.hash = hash
  const client = new Client(service.fetch, 'api/v1', asOf)
  let listener: Listener | undefined
  const started = new Feed({
    client,
    listen: (given) => {
      listener = given
      return () => undefined
    },
    batchMs: 1,
    retryMs: 20,
  })
  feed = started
  const showAsOf = vi.fn<(asOf: string | undefined) => void>()
  const findLayout = async (shape: Shape) => layout(shape)
  render(<App client={client} feed={started} findLayout={findLayout} asOf={asOf} showAsOf={showAsOf} />)
  return { service, showAsOf, user: userEvent.setup(), listener: () => listener as unknown as Listener }
}
