import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Client } from './api/client'
import { Feed } from './api/feed'
import { listen } from './api/stream'
import { App } from './ui/App'
import { layoutInWorker } from './ui/layoutEngine'
import './ui/styles/index.css'

const API = 'api/v1' // relative: the service may be mounted below a path

const client = new Client((url, init) => window.fetch(url, init), API)
const feed = new Feed({
  client,
  listen: (listener) =>
    listen(
      {
        open: () => new EventSource(`${API}/stream`),
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
    <App client={client} feed={feed} findLayout={layoutInWorker()} />
  </StrictMode>,
)
