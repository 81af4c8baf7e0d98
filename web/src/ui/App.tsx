import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { Client } from '../api/client'
import type { Feed, FeedState } from '../api/feed'
import type { ColumnGraph } from '../core/columns'
import { EMPTY_GRAPH, type LineageGraph } from '../core/graph'
import type { NodeId } from '../core/ids'
import { isolated } from '../core/isolated'
import { labelOf } from '../core/labels'
import { LOADING, type Loadable } from '../core/loadable'
import { newestAround } from '../core/newest'
import type { Pile } from '../core/piles'
import { type GraphRoute, HOME, hasPanel, RECORD, type Route, routeTo, withAsked } from '../core/route'
import { DriftView } from './drift/DriftView'
import { FailuresView } from './failures/FailuresView'
import { FocusTransfer, isByKey } from './focusTransfer'
import { GraphPane } from './GraphPane'
import { Header } from './Header'
import type { FindLayout } from './layoutEngine'
import { EmptyNotice, FailureNotice, LoadingNotice, Unlisted } from './Notices'
import { type Page, PageContext } from './page'
import { Details } from './panel/Details'
import { EntryView } from './record/EntryView'
import { RecordView } from './record/RecordView'
import { Unbroken } from './Unbroken'
import { useColumns } from './useColumns'
import { useFocusAhead } from './useFocusAhead'
import { useKey } from './useKeys'
import { useLoaded } from './useLoaded'
import { replace, useRoute } from './useRoute'

interface AppProps {
  readonly client: Client
  readonly feed: Feed
  readonly findLayout: FindLayout
  readonly asOf: string | undefined
  readonly travel: (asOf: string | undefined) => void
}

export function App({ client, feed, findLayout, asOf, travel }: AppProps) {
  const state = useSyncExternalStore(feed.subscribe, feed.state)
  const [route, go] = useRoute()
  const [unfolded, setUnfolded] = useState<ReadonlySet<NodeId>>(new Set())
  const [spread, setSpread] = useState<ReadonlyMap<NodeId, number>>(new Map())
  const [anchor, setAnchor] = useState<NodeId>()
  const [landing, setLanding] = useState<FocusTransfer>()
  const graph = state.graph.state === 'ready' ? state.graph.value : EMPTY_GRAPH
  const chosen = route.view === 'graph' ? route : HOME
  const { touched } = state
  const around = useMemo(
    () => (chosen.node === undefined ? 0 : newestAround(graph, touched, chosen.node)),
    [graph, touched, chosen.node],
  )
  const columns = useColumns(client, graph, around, chosen.node)
  // The address may name a node beyond those that are listed.
  const included = useLoaded(
    chosen.node,
    state.revision,
    async () => chosen.node && feed.include(chosen.node),
  )
  const shown = included.state === 'ready' ? included.value : undefined
  useEffect(() => {
    if (chosen.node === undefined) feed.release()
  }, [feed, chosen.node])
  useEffect(() => {
    if (shown !== undefined && shown !== chosen.node) replace({ ...chosen, node: shown })
  }, [shown, chosen])

  const page = pageOf(client, graph, state, route, {
    around,
    asOf,
    travel,
    go,
    landing,
    lead: (place, click) => setLanding(isByKey(click) ? new FocusTransfer(place) : undefined),
    anchor: setAnchor,
    toggleFold: (node) => setUnfolded((open) => toggled(open, node)),
    spread: ({ id, next }) => setSpread((shown) => new Map(shown).set(id, next)),
  })
  useKey('Escape', () => {
    if (!isPopoverOpen()) page.close()
  })
  useTitle(graph, route)
  useFocusAhead(route.view)

  return (
    <PageContext value={page}>
      <Header route={route} connection={state.connection} isBehind={state.isBehind} />
      <main className="stage" data-panel={hasPanel(route)}>
        <Unbroken key={route.view}>
          {route.view === 'record' && <RecordView machine={route.machine} />}
          {route.view === 'entry' && <EntryView key={route.index} index={route.index} />}
          {route.view === 'drift' && <DriftView />}
          {route.view === 'failures' && <FailuresView />}
          {route.view === 'graph' && (
            <section className="canvas" aria-label="Lineage graph">
              <Graph
                state={state}
                columns={columns}
                route={route}
                unfolded={unfolded}
                spread={spread}
                anchor={anchor}
                findLayout={findLayout}
              />
              <Unlisted count={state.unlisted} />
              <a className="reference" href="docs">
                API reference
              </a>
            </section>
          )}
        </Unbroken>
        {chosen.node !== undefined && (
          <Details
            id={chosen.node}
            column={chosen.column}
            columns={columns}
            included={state.graph.state === 'loading' ? LOADING : included}
          />
        )}
      </main>
    </PageContext>
  )
}

/** Escape closes that first. */
function isPopoverOpen(): boolean {
  return document.querySelector('[popover]:popover-open') !== null
}

interface GraphProps extends Pick<AppProps, 'findLayout'> {
  readonly state: FeedState
  readonly columns: Loadable<ColumnGraph>
  readonly route: GraphRoute
  readonly unfolded: ReadonlySet<NodeId>
  readonly spread: ReadonlyMap<NodeId, number>
  readonly anchor: NodeId | undefined
}

function Graph({ state: { graph, isGivenUp }, ...rest }: GraphProps) {
  switch (graph.state) {
    case 'loading':
      return <LoadingNotice />
    case 'failed':
      return <FailureNotice message={graph.message} isGivenUp={isGivenUp} />
    case 'ready':
      return graph.value.nodes.size === 0 ? <EmptyNotice /> : <GraphPane {...rest} graph={graph.value} />
  }
}

interface Moves extends Pick<AppProps, 'asOf' | 'travel'>, Pick<Page, 'around' | 'landing' | 'lead'> {
  readonly go: (route: Route) => void
  readonly anchor: (node: NodeId) => void
  readonly toggleFold: (node: NodeId) => void
  readonly spread: (pile: Pile) => void
}

function pageOf(client: Client, graph: LineageGraph, state: FeedState, route: Route, moves: Moves): Page {
  return {
    client,
    graph,
    asOf: moves.asOf,
    travel: moves.travel,
    revision: state.revision,
    drawn: state.drawn,
    around: moves.around,
    landing: moves.landing,
    lead: moves.lead,
    revisionOf: (node) => state.touched.get(node) ?? 0,
    openNode: (node) => {
      moves.anchor(node)
      moves.go(routeTo(node))
    },
    openMachine: (machine) => moves.go({ view: 'record', machine }),
    toggleColumn: ({ dataset, column }) => {
      moves.anchor(dataset)
      const isLit = route.view === 'graph' && route.node === dataset && route.column === column
      moves.go(routeTo(dataset, isLit ? undefined : column))
    },
    toggleFold: (node) => {
      moves.anchor(node)
      moves.toggleFold(node)
    },
    spread: (pile) => {
      const isLast = pile.more === pile.neighbours
      moves.anchor(isLast ? pile.hub : pile.id) // so that it can be spread again at once
      moves.spread(pile)
    },
    asked: route.view === 'graph' ? route.asked : [],
    since: route.view === 'graph' ? route.since : undefined,
    ask: (question, isOpen) => {
      if (route.view === 'graph') replace(withAsked(route, question, isOpen))
    },
    askSince: (since) => {
      if (route.view === 'graph') replace({ ...route, since })
    },
    isDrop: route.view === 'graph' && route.isDrop,
    askDrop: (isDrop) => {
      if (route.view === 'graph') replace({ ...route, isDrop })
    },
    close: () => moves.go(stepBack(route)),
    leave: () => moves.go(route.view === 'record' ? RECORD : HOME),
  }
}

function stepBack(route: Route): Route {
  if (route.view === 'record') return RECORD
  if (route.view !== 'graph') return route
  const { node, column } = route
  return node === undefined || column === undefined ? HOME : routeTo(node)
}

/** So that the browser's history can be read. */
function useTitle(graph: LineageGraph, route: Route): void {
  const shown = titleOf(graph, route)
  useEffect(() => {
    document.title = shown ? `${shown} · Headwater` : 'Headwater'
  }, [shown])
}

function titleOf(graph: LineageGraph, route: Route): string | undefined {
  switch (route.view) {
    case 'record':
      return [route.machine && isolated(route.machine), 'Record'].filter(Boolean).join(' · ')
    case 'entry':
      return `Entry ${route.index} · Record`
    case 'drift':
      return 'Schema changes'
    case 'failures':
      return 'Failures'
    case 'graph':
      return (
        route.node &&
        [route.column && isolated(route.column), labelOf(graph, route.node)].filter(Boolean).join(' of ')
      )
  }
}

function toggled(nodes: ReadonlySet<NodeId>, node: NodeId): ReadonlySet<NodeId> {
  const next = new Set(nodes)
  if (!next.delete(node)) next.add(node)
  return next
}
