import { useMemo, useState } from 'react'
import { formatCount } from '../../core/format'
import { isJobId, type NodeId } from '../../core/ids'
import { labelOf } from '../../core/labels'
import { byText } from '../../core/order'
import { JobIcon, TableIcon } from '../icons'
import { Name } from '../Name'
import { usePage } from '../page'

interface NodeLinksProps {
  readonly title: string
  readonly nodes: readonly NodeId[] | undefined
  /** How many there are, if that is more than `nodes`. */
  readonly totalCount?: number
  /** What to say if there are none. */
  readonly none?: string
}

/** So many are looked through; more are asked for. */
const MOST = 50

/** By name; the first of many, until the reader wants all. */
export function NodeLinks({ title, nodes = [], totalCount = nodes.length, none }: NodeLinksProps) {
  const { graph } = usePage()
  const [isWhole, setIsWhole] = useState(false)
  const sorted = useMemo(() => [...nodes].sort(byText((node) => labelOf(graph, node))), [graph, nodes])
  const shown = isWhole ? sorted : sorted.slice(0, MOST)
  return (
    <section>
      <h3>
        {title} {totalCount > 1 && <span className="muted">{formatCount(totalCount)}</span>}
      </h3>
      {nodes.length === 0 ? (
        <p className="muted">{none}</p>
      ) : (
        <ul className="links">
          {shown.map((node) => (
            <li key={node}>
              <NodeLink node={node} />
            </li>
          ))}
        </ul>
      )}
      {shown.length < nodes.length && (
        <button type="button" className="link" onClick={() => setIsWhole(true)}>
          Show {nodes.length < totalCount ? 'the first' : 'all'} {formatCount(nodes.length)}
        </button>
      )}
    </section>
  )
}

export function NodeLink({ node }: { node: NodeId }) {
  const { graph, openNode } = usePage()
  const label = labelOf(graph, node)
  return (
    <button type="button" className="link" aria-label={label} onClick={() => openNode(node)}>
      {isJobId(node) ? <JobIcon /> : <TableIcon />}
      <span>
        <Name text={label} />
      </span>
    </button>
  )
}
