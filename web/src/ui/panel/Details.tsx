import type { ColumnGraph } from '../../core/columns'
import type { GraphNode } from '../../core/graph'
import type { NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import type { Loadable } from '../../core/loadable'
import { nodeLabel } from '../../core/nodeLabels'
import { ErrorBoundary } from '../ErrorBoundary'
import { JobIcon, TableIcon } from '../icons'
import { LabelText } from '../LabelText'
import { Name } from '../Name'
import { BackToNow } from '../Notices'
import { usePage } from '../page'
import { DatasetDetails } from './DatasetDetails'
import { Faults } from './Faults'
import { JobDetails } from './JobDetails'
import { Panel } from './Panel'

interface DetailsProps {
  readonly id: NodeId
  /** A column of the node, whose path is lit. */
  readonly column: string | undefined
  readonly columns: Loadable<ColumnGraph>
  /** The state of loading the node into the graph. */
  readonly included: Loadable<unknown>
}

const MISSING = { loading: 'Loading…', failed: 'Not loaded', ready: 'Not found' } as const

/** The side panel for the chosen node. */
export function Details({ id, column, columns, included }: DetailsProps) {
  const { graph, asOf } = usePage()
  const node = graph.nodes.get(id)
  if (!node) {
    return (
      <Panel
        subject={id}
        head={
          <h2 className="panel-title" tabIndex={-1}>
            {MISSING[included.state]}
          </h2>
        }
      >
        {included.state === 'failed' && <p role="alert">{included.message}</p>}
        {included.state === 'ready' && (
          <>
            <p>
              The service {asOf === undefined ? 'has' : 'had'} no job or dataset with the id {isolated(id)}
              {asOf === undefined ? '. Use the search above.' : ' at that time.'}
            </p>
            <BackToNow />
          </>
        )}
      </Panel>
    )
  }
  return (
    <Panel subject={id} head={<Title node={node} />}>
      <ErrorBoundary key={id}>
        <Faults>
          {node.kind === 'job' ? (
            <JobDetails id={id} job={node.job} />
          ) : (
            <DatasetDetails id={id} summary={node.dataset} column={column} columns={columns} />
          )}
        </Faults>
      </ErrorBoundary>
    </Panel>
  )
}

function Title({ node }: { node: GraphNode }) {
  const { namespace, name } = node.kind === 'job' ? node.job : node.dataset
  return (
    <div className="panel-heading">
      <p className="panel-kind">
        {node.kind === 'job' ? <JobIcon /> : <TableIcon />}
        {node.kind === 'job' ? 'Job' : 'Dataset'}
      </p>
      <h2 className="panel-title" tabIndex={-1}>
        <LabelText label={nodeLabel(node)} breaks />
      </h2>
      <p className="full-name">
        <span className="muted">{isolated(namespace)}</span> <Name text={name} />
      </p>
    </div>
  )
}
