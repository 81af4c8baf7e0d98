import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { Client } from '../api/client'
import type { Feed, FeedState } from '../api/feed'
import { EMPTY_GRAPH, type LineageGraph } from '../core/graph'
import type { NodeId } from '../core/ids'
import { isolated } from '../core/isolated'
import { lineageRevisionOf } from '../core/lineageRevision'
import { LOADING } from '../core/loadable'
import { labelOf } from '../core/nodeLabels'
import { HOME, hasPanel, RECORD, type Route, routeTo, withAsked } from '../core/route'
import { CatalogView } from './catalog/CatalogView'
import { DriftView } from './drift/DriftView'
import { ErrorBoundary } from './ErrorBoundary'
import { FailuresView } from './failures/FailuresView'
import { FocusTransfer, isByKey } from './focusTransfer'
import { GraphPane, type GraphPaneProps } from './GraphPane'
import { Header } from './Header'
import type { FindLayout } from './layoutEngine'
import { EmptyNotice, FailureNotice, LoadingNotice, Unlisted } from './Notices'
import { type Page, PageContext } from './page'
import { Details } from './panel/Details'
import { EntryView } from './record/EntryView'
import { RecordView } from './record/RecordView'
import { useColumns } from './useColumns'
import { useFocusNextView } from './useFocusNextView'
import { useKey } from './useKeys'
import { useLoaded } from './useLoaded'
import { replace, useRoute } from './useRoute'

interface AppProps {
  readonly client: Client
  readonly feed: Feed
  readonly findLayout: FindLayout
  readonly asOf: string | undefined
  readonly showAsOf: (asOf: string | undefined) => void
}

export function App({ client, feed, findLayout, asOf, showAsOf }: AppProps) {
  const state = useSyncExternalStore(feed.subscribe, feed.state)
  const [route, go] = useRoute()
  const [unfolded, setUnfolded] = useState<ReadonlySet<NodeId>>(new Set())
  const [shownByPile, setShownByPile] = useState<ReadonlyMap<NodeId, number>>(new Map())
  const [anchor, setAnchor] = useState<NodeId>()
  const [focusTransfer, setFocusTransfer] = useState<FocusTransfer>()
  const graph = state.graph.state === 'ready' ? state.graph.value : EMPTY_GRAPH
  const chosen = route.view === 'graph' ? route : HOME
  const { nodeRevisions } = state
  const lineageRevision = useMemo(
    () => (chosen.node === undefined ? 0 : lineageRevisionOf(graph, nodeRevisions, chosen.node)),
    [graph, nodeRevisions, chosen.node],
  )
  const columns = useColumns(client, graph, lineageRevision, chosen.node)
  // The address may name a node that the graph does not hold yet.
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
    lineageRevision,
    asOf,
    showAsOf,
    go,
    focusTransfer,
    moveFocus: (target, click) => setFocusTransfer(isByKey(click) ? new FocusTransfer(target) : undefined),
    anchor: setAnchor,
    toggleFold: (node) => setUnfolded((open) => toggled(open, node)),
    expandPile: ({ id, next }) => setShownByPile((shown) => new Map(shown).set(id, next)),
  })
  useKey('Escape', () => {
    if (!isPopoverOpen()) page.stepBack()
  })
  useTitle(graph, route)
  useFocusNextView(route.view)

  return (
    <PageContext value={page}>
      <Header route={route} connection={state.connection} isBehind={state.isBehind} />
      <main className="stage" data-panel={hasPanel(route)}>
        <ErrorBoundary key={route.view}>
          {route.view === 'record' && <RecordView machine={route.machine} />}
          {route.view === 'entry' && <EntryView key={route.index} index={route.index} />}
          {route.view === 'drift' && <DriftView />}
          {route.view === 'failures' && <FailuresView />}
          {route.view === 'catalog' && <CatalogView route={route} />}
          {route.view === 'graph' && (
            <section className="canvas" aria-label="Lineage graph">
              <Graph
                state={state}
                columns={columns}
                route={route}
                unfolded={unfolded}
                shownByPile={shownByPile}
                anchor={anchor}
                findLayout={findLayout}
              />
              <Unlisted count={state.unlisted} />
              <a className="reference" href="docs">
                API reference
              </a>
            </section>
          )}
        </ErrorBoundary>
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

/** Escape closes an open popover first. */
function isPopoverOpen(): boolean {
  return document.querySelector('[popover]:popover-open') !== null
}

interface GraphProps extends Omit<GraphPaneProps, 'graph'> {
  readonly state: FeedState
}

function Graph({ state: { graph, isFatal }, ...rest }: GraphProps) {
  switch (graph.state) {
    case 'loading':
      return <LoadingNotice />
    case 'failed':
      return <FailureNotice message={graph.message} isFatal={isFatal} />
    case 'ready':
      return graph.value.nodes.size === 0 ? <EmptyNotice /> : <GraphPane {...rest} graph={graph.value} />
  }
}

interface Actions
  extends Pick<AppProps, 'asOf' | 'showAsOf'>,
    Pick<Page, 'lineageRevision' | 'focusTransfer' | 'moveFocus' | 'expandPile'> {
  readonly go: (route: Route) => void
  readonly anchor: (node: NodeId) => void
  readonly toggleFold: (node: NodeId) => void
}

function pageOf(client: Client, graph: LineageGraph, state: FeedState, route: Route, actions: Actions): Page {
  return {
    client,
    graph,
    asOf: actions.asOf,
    showAsOf: actions.showAsOf,
    revision: state.revision,
    graphRevision: state.graphRevision,
    lineageRevision: actions.lineageRevision,
    focusTransfer: actions.focusTransfer,
    moveFocus: actions.moveFocus,
    nodeRevision: (node) => state.nodeRevisions.get(node) ?? 0,
    openNode: (node) => {
      actions.anchor(node)
      actions.go(routeTo(node))
    },
    openMachine: (machine) => actions.go({ view: 'record', machine }),
    toggleColumn: ({ dataset, column }) => {
      actions.anchor(dataset)
      const isLit = route.view === 'graph' && route.node === dataset && route.column === column
      actions.go(routeTo(dataset, isLit ? undefined : column))
    },
    toggleFold: (node) => {
      actions.anchor(node)
      actions.toggleFold(node)
    },
    expandPile: (pile) => {
      const isLast = pile.more === pile.neighbours
      actions.anchor(isLast ? pile.hub : pile.id) // a pile that remains stays under the pointer, to be expanded again
      actions.expandPile(pile)
    },
    openQuestions: route.view === 'graph' ? route.asked : [],
    since: route.view === 'graph' ? route.since : undefined,
    toggleQuestion: (question, isOpen) => {
      if (route.view === 'graph') replace(withAsked(route, question, isOpen))
    },
    setSince: (since) => {
      if (route.view === 'graph') replace({ ...route, since })
    },
    isDrop: route.view === 'graph' && route.isDrop,
    setIsDrop: (isDrop) => {
      if (route.view === 'graph') replace({ ...route, isDrop })
    },
    stepBack: () => actions.go(stepBack(route)),
    closeDetails: () => actions.go(route.view === 'record' ? RECORD : HOME),
  }
}

function stepBack(route: Route): Route {
  if (route.view === 'record') return RECORD
  if (route.view !== 'graph') return route
  const { node, column } = route
  return node === undefined || column === undefined ? HOME : routeTo(node)
}

/** Sets the title of the document, for the browser's history. */
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
    case 'catalog':
      return 'Catalog'
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
