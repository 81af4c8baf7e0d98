import { useMemo, useSyncExternalStore } from 'react'
import { formatRoute, parseRoute, type Route } from '../core/route'

/** The route in the address, and a function to change it; each change is an entry of the browser's history. */
export function useRoute(): [Route, (route: Route) => void] {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash)
  const route = useMemo(() => parseRoute(hash), [hash])
  return [route, go]
}

function go(route: Route): void {
  const hash = formatRoute(route)
  if (hash !== window.location.hash) window.location.hash = hash
}

/** Changes the route without a new entry in the browser's history. */
export function replace(route: Route): void {
  window.location.replace(formatRoute(route))
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}
