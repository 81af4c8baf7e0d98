import { formatCount } from '../../core/format'
import type { Named } from '../../core/ids'
import { isJobId, likelyNamed, type NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import { labelText, neighbourLabel } from '../../core/labels'
import { labelOf } from '../../core/nodeLabels'
import { JobIcon, TableIcon } from '../icons'
import { Name } from '../Name'
import { usePage } from '../page'
import { ShowMore } from '../ShowMore'
import type { More } from '../useMore'
import { Fault } from './Faults'

interface Linked {
  readonly id: NodeId
  /** The text of the link if the graph does not hold the node. */
  readonly name: string
}

interface NodeLinksProps {
  readonly title: string
  readonly nodes: readonly Linked[]
  /** How many there are, if more than `nodes`. */
  readonly totalCount?: number
  /** Shown if there are none. */
  readonly none?: string | undefined
  readonly more?: More
  /** Why the list may be incomplete. */
  readonly failure?: string | undefined
}

/** A titled list of links to nodes: the first ones, and a button to show more. */
export function NodeLinks({ title, nodes, totalCount = nodes.length, none, more, failure }: NodeLinksProps) {
  return (
    <section>
      <h3>
        {title} {totalCount > 1 && <span className="muted">{formatCount(totalCount)}</span>}
      </h3>
      {nodes.length === 0 ? (
        none !== undefined && <p className="muted">{none}</p>
      ) : (
        <ul className="links" aria-label={title}>
          {nodes.map(({ id, name }) => (
            <li key={id}>
              <NodeLink node={id} name={name} />
            </li>
          ))}
        </ul>
      )}
      {more && <ShowMore more={more} shown={nodes.length} totalCount={totalCount} />}
      {failure !== undefined && (
        <>
          <p className="muted">Only those in the loaded graph are listed.</p>
          <Fault message={failure} />
        </>
      )}
    </section>
  )
}

/** A link to a job or dataset, in the graph or not, with its namespace: another may have the same name. */
export function PlacedLink({ node, named = likelyNamed(node) }: { node: NodeId; named?: Named }) {
  const { graph } = usePage()
  const isInLabel = graph.nodes.get(node)?.hasTwin === true
  return (
    <>
      <NodeLink node={node} name={labelText(neighbourLabel({ nodeId: node, ...named }))} />
      {!isInLabel && <span className="muted">{isolated(named.namespace)}</span>}
    </>
  )
}

/** A link to a job or dataset; `name` is its text if the graph does not hold the node. */
export function NodeLink({ node, name }: { node: NodeId; name?: string }) {
  const { graph, openNode } = usePage()
  const label = name !== undefined && !graph.nodes.has(node) ? name : labelOf(graph, node)
  return (
    <button type="button" className="link" aria-label={label} onClick={() => openNode(node)}>
      {isJobId(node) ? <JobIcon /> : <TableIcon />}
      <span>
        <Name text={label} />
      </span>
    </button>
  )
}
