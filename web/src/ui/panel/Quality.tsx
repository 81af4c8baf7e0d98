import type { QualityPoint } from '../../api/answers'
import { formatCount } from '../../core/format'
import type { NodeId } from '../../core/ids'
import { isolated } from '../../core/isolated'
import { verdicts } from '../../core/quality'
import { counted } from '../../core/wording'
import { usePage } from '../page'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { Fault } from './Faults'

const SHOWN = 5

/** The last assertions about a dataset, or tests of a job, newest first; nothing if there are none. */
export function Quality({ of }: { of: NodeId }) {
  const { client, nodeRevision } = usePage()
  const found = useLoaded(of, nodeRevision(of), () => client.quality(of, SHOWN))
  if (found.state === 'failed') return <Fault message={found.message} />
  const judged = found.state === 'ready' ? found.value.filter(({ passed }) => passed !== null) : []
  if (judged.length === 0) return null
  return (
    <section>
      <h3>Quality</h3>
      <ol className="links">
        {judged.map((point) => (
          <Point key={[point.at, point.run, point.direction, point.tests.length].join()} point={point} />
        ))}
      </ol>
    </section>
  )
}

function Point({ point: { at, passed, assertions, tests } }: { point: QualityPoint }) {
  const { failed, passed: good } = verdicts(assertions, tests)
  const all = counted(good + failed.length, tests.length > 0 ? 'test' : 'assertion')
  return (
    <li>
      <p className="item-head">
        <span className="badge" data-mark={passed ? 'good' : 'bad'}>
          {passed ? 'passed' : 'failed'}
        </span>
        <Time at={at} />
        <span className="muted">{passed ? all : `${formatCount(failed.length)} of ${all}`}</span>
      </p>
      {failed.length > 0 && <p>{failed.map(isolated).join(', ')}</p>}
    </li>
  )
}
