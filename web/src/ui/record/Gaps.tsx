import { useState } from 'react'
import type { GapKind } from '../../api/answers'
import { formatCount } from '../../core/format'
import { GAP_COUNTS, GAP_LABELS } from '../../core/gaps'
import { likelyNamed, type NodeId } from '../../core/ids'
import { isolatedNames } from '../../core/isolated'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { PlacedLink } from '../panel/NodeLinks'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'

const SHOWN = 20

/** Known gaps: facts that events should have reported and did not, or that could not be used; by kind. */
export function Gaps({ revision }: { revision: number }) {
  const { client } = usePage()
  const coverage = useLoaded('coverage', revision, () => client.coverage())
  return (
    <section aria-labelledby="gaps">
      <h3 id="gaps">What was not reported</h3>
      <Awaited of={coverage} doing="Loading gaps">
        {({ total: { gaps, signatures } }) => {
          const found = GAP_COUNTS.filter(([, count]) => gaps[count] > 0)
          return (
            <div className="questions">
              {signatures.events === 0 ? (
                <p>No events yet.</p>
              ) : (
                <p>
                  {formatCount(signatures.verified)} of {counted(signatures.events, 'event')}{' '}
                  {signatures.verified === 1 ? 'is' : 'are'} signed by a trusted key.{' '}
                  {found.length === 0 && 'No gap is known.'}
                </p>
              )}
              {found.map(([kind, count]) => (
                <Kind key={kind} kind={kind} count={gaps[count]} revision={revision} />
              ))}
            </div>
          )
        }}
      </Awaited>
    </section>
  )
}

interface KindProps {
  readonly kind: GapKind
  readonly count: number
  readonly revision: number
}

function Kind({ kind, count, revision }: KindProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="question" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        {GAP_LABELS[kind]} <span className="muted">{formatCount(count)}</span>
      </summary>
      {isOpen && <Newest kind={kind} revision={revision} />}
    </details>
  )
}

function Newest({ kind, revision }: Omit<KindProps, 'count'>) {
  const { client } = usePage()
  const gaps = useLoaded(kind, revision, () => client.gaps(kind, SHOWN))
  return (
    <Awaited of={gaps} doing="Loading the newest gaps">
      {({ items, totalCount }) => (
        <>
          <ul className="places">
            {items.map(({ words, nodeId, namespace, at, related }) => (
              <li key={JSON.stringify([words, nodeId, at])}>
                {isolatedNames(words)}
                <p className="item-head">
                  <Time at={at} />
                  {[nodeId, ...related].filter(isLinkable).map((node) => (
                    <PlacedLink key={node} node={node} named={likelyNamed(node, namespace)} />
                  ))}
                </p>
              </li>
            ))}
          </ul>
          {totalCount > items.length && (
            <p className="muted">
              {formatCount(totalCount - items.length)} older: <code>headwater coverage --kind {kind}</code>
            </p>
          )}
        </>
      )}
    </Awaited>
  )
}

/** Runs have no view of their own. */
function isLinkable(node: string | null): node is NodeId {
  return node !== null && /^(job|dataset):/.test(node)
}
