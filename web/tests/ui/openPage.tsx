import { cleanup, render } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import type { DetachedWindowAPI } from 'happy-dom'
import { afterEach } from 'vitest'
import { Client } from '../../src/api/client'
import { Feed } from '../../src/api/feed'
import type { Listener } from '../../src/api/stream'
import { layout } from '../../src/core/layout'
import { App } from '../../src/ui/App'
import { lakehouse, type Service } from '../lakehouse'

// Without a layout engine every element is 0 pixels wide, which no animated move of the view survives.
const { happyDOM } = window as unknown as { happyDOM: DetachedWindowAPI }
happyDOM.settings.device.prefersReducedMotion = 'reduce'

let feed: Feed | undefined

afterEach(() => {
  cleanup()
  feed?.stop()
  window.location.hash = ''
})

/** The whole page over a service in memory; `listener` speaks for the stream. */
export function openPage({ service = lakehouse(), hash = '' }: { service?: Service; hash?: string } = {}) {
  window.location.hash = hash
  const client = new Client(service.fetch, 'api/v1')
  let listener: Listener | undefined
  const started = new Feed({
    client,
    listen: (given) => {
      listener = given
      return () => undefined
    },
    gatherMs: 1,
    retryMs: 20,
  })
  feed = started
  render(<App client={client} feed={started} findLayout={async (shape) => layout(shape)} />)
  return { service, user: userEvent.setup(), listener: () => listener as unknown as Listener }
}
