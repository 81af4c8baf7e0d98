import type { QualityPoint } from '../../api/answers'
import { formatCount } from '../../core/format'
import type { NodeId } from '../../core/ids'
import { verdicts } from '../../core/quality'
import { counted } from '../../core/wording'
import { usePage } from '../page'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'

const SHOWN = 5

/** What was last asserted of a dataset, newest first; nothing where nobody ever did. */
export function Quality({ dataset }: { dataset: NodeId }) {
  const { client, revisionOf } = usePage()
  const found = useLoaded(dataset, revisionOf(dataset), () => client.quality(dataset, SHOWN))
  if (found.state === 'failed') return <p role="alert">{found.message}</p>
  const asserted = found.state === 'ready' ? found.value.filter(({ passed }) => passed !== null) : []
  if (asserted.length === 0) return null
  return (
    <section>
      <h3>Quality</h3>
      <ol className="links">
        {asserted.map((point) => (
          <Point key={[point.at, point.run, point.direction].join()} point={point} />
        ))}
      </ol>
    </section>
  )
}

function Point({ point: { at, passed, assertions } }: { point: QualityPoint }) {
  const { failed, passed: good } = verdicts(assertions)
  const all = counted(good + failed.length, 'assertion')
  return (
    <li>
      <p className="item-head">
        <span className="badge" data-mark={passed ? 'good' : 'bad'}>
          {passed ? 'passed' : 'failed'}
        </span>
        <Time at={at} />
        <span className="muted">{passed ? all : `${formatCount(failed.length)} of ${all}`}</span>
      </p>
      {failed.length > 0 && <p>{failed.join(', ')}</p>}
    </li>
  )
}
