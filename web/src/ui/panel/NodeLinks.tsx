import { isJobId, type NodeId } from '../../core/ids'
import { labelOf } from '../../core/labels'
import { JobIcon, TableIcon } from '../icons'
import { usePage } from '../page'

interface NodeLinksProps {
  readonly title: string
  readonly nodes: readonly NodeId[] | undefined
  /** What to say if there are none. */
  readonly none?: string
}

export function NodeLinks({ title, nodes = [], none }: NodeLinksProps) {
  return (
    <section>
      <h3>{title}</h3>
      {nodes.length === 0 ? (
        <p className="muted">{none}</p>
      ) : (
        <ul className="links">
          {nodes.map((node) => (
            <li key={node}>
              <NodeLink node={node} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

export function NodeLink({ node }: { node: NodeId }) {
  const { graph, openNode } = usePage()
  return (
    <button type="button" className="link" onClick={() => openNode(node)}>
      {isJobId(node) ? <JobIcon /> : <TableIcon />}
      {labelOf(graph, node)}
    </button>
  )
}
