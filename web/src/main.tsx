import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Client } from './api/client'
import { Feed } from './api/feed'
import { Session } from './api/session'
import { listen } from './api/stream'
import { App } from './ui/App'
import { layoutInWorker } from './ui/layoutEngine'
import { Admitted } from './ui/SignIn'
import './ui/styles/index.css'

const API = 'api/v1' // relative: the service may be mounted below a path

const session = new Session({
  kept: window.sessionStorage,
  fetch: (url, init) => window.fetch(url, init),
  begin: () => window.location.reload(),
})
const client = new Client(session.fetch, API)
const feed = new Feed({
  client,
  listen: (listener) =>
    listen(
      {
        open: () => session.stream(`${API}/stream`, () => new EventSource(`${API}/stream`)),
        storedEvents: () => client.storedEvents(),
        pollEveryMs: 1_000,
        reopenEveryMs: 5_000,
      },
      listener,
    ),
  gatherMs: 200,
  retryMs: 1_000,
})

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <Admitted session={session}>
      <App client={client} feed={feed} findLayout={layoutInWorker()} />
    </Admitted>
  </StrictMode>,
)
