import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Client } from './api/client'
import { Feed } from './api/feed'
import { Session } from './api/session'
import { type Listener, listen } from './api/stream'
import { formatAsOf, parseAsOf } from './core/asOf'
import { App } from './ui/App'
import { layoutInWorker } from './ui/layoutEngine'
import { RequireSignIn } from './ui/SignIn'
import './ui/styles/index.css'

const API = 'api/v1' // relative: the service may be mounted below a path

const session = new Session({
  storage: window.sessionStorage,
  fetch: (url, init) => window.fetch(url, init),
  reload: () => window.location.reload(),
})
const asOf = parseAsOf(window.location.search)
const client = new Client(session.fetch, API, asOf)
const listenToService = (listener: Listener) =>
  listen(
    {
      open: () => session.stream(`${API}/stream`, () => new EventSource(`${API}/stream`)),
      storedEvents: () => client.storedEvents(),
      pollEveryMs: 1_000,
      reopenEveryMs: 5_000,
    },
    listener,
  )
const feed = new Feed({
  client,
  listen: asOf === undefined ? listenToService : () => () => undefined, // the past does not change
  batchMs: 200,
  retryMs: 1_000,
})

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <RequireSignIn session={session}>
      <App
        client={client}
        feed={feed}
        findLayout={layoutInWorker()}
        asOf={asOf}
        showAsOf={(time) => {
          window.location.search = formatAsOf(time)
        }}
      />
    </RequireSignIn>
  </StrictMode>,
)
