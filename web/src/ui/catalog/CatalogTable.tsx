import type { ReactNode } from 'react'
import type { Page } from '../../api/paged'
import type { Named, NodeId } from '../../core/ids'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { PlacedLink } from '../panel/NodeLinks'
import { ShowMore } from '../ShowMore'
import { TableHead } from '../TableHead'
import { useLoaded } from '../useLoaded'
import { useMore } from '../useMore'
import { useThrottledRevision } from '../useThrottledRevision'

/** Rows at first. */
const SHOWN = 50

interface CatalogTableProps<Item> {
  readonly noun: 'job' | 'dataset'
  /** In what order they are, in words. */
  readonly order: string
  readonly heads: readonly string[]
  /** The first `count` of the list. */
  readonly load: (count: number) => Promise<Page<Item>>
  readonly row: (item: Item) => ReactNode
}

/** The first jobs or datasets of a list, and a button to show more. */
export function CatalogTable<Item>({ noun, order, heads, load, row }: CatalogTableProps<Item>) {
  const { revision } = usePage()
  const more = useMore(SHOWN)
  const version = useThrottledRevision(revision) + more.count // both only grow
  const found = useLoaded(noun, version, () => load(more.count))
  return (
    <Awaited of={found} doing={`Loading ${noun}s`}>
      {({ items, totalCount }) =>
        totalCount === 0 ? (
          <p className="muted">No such {noun} is known.</p>
        ) : (
          <section aria-label={`List of ${noun}s`}>
            <p className="lead">
              {counted(totalCount, noun)}, {order}
            </p>
            <table className="catalog">
              <TableHead names={heads} />
              <tbody>{items.map(row)}</tbody>
            </table>
            <ShowMore more={more} shown={items.length} totalCount={totalCount} />
          </section>
        )
      }
    </Awaited>
  )
}

/** The first cell of a row: a link to the job or dataset. */
export function NameCell({ node, named: { namespace, name } }: { node: NodeId; named: Named }) {
  return (
    <th scope="row">
      <span className="item-head">
        <PlacedLink node={node} named={{ namespace, name }} />
      </span>
    </th>
  )
}
