import type { Checkpoint } from '../../core/checkpoint'
import { formatCount } from '../../core/format'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { useLoaded } from '../useLoaded'
import { Fact } from './Fact'

/** The size of the log and its checkpoint. */
export function LogHead({ revision }: { revision: number }) {
  const { client, asOf } = usePage()
  const heads = useLoaded('log', revision, () => client.heads())
  return (
    <section aria-labelledby="log">
      <h3 id="log">The log{asOf !== undefined && ', as it is now'}</h3>
      <Awaited of={heads} doing="Loading the checkpoint">
        {([head, witnessed]) => <Head head={head} witnessed={witnessed} url={client.checkpointUrl} />}
      </Awaited>
    </section>
  )
}

interface HeadProps {
  readonly head: Checkpoint
  /** The newest checkpoint that a witness signed. */
  readonly witnessed: Checkpoint | undefined
  readonly url: string
}

function Head({ head, witnessed, url }: HeadProps) {
  return (
    <>
      <dl className="facts">
        <Fact term="Entries">{formatCount(head.size)}</Fact>
        <Fact term="Root hash">
          <code>{head.rootHash}</code>
        </Fact>
        <Fact term="Signed by">
          {head.isSigned ? head.origin : <span className="bad">not signed by {head.origin}</span>}
        </Fact>
        <Fact term="Witnessed by">
          {witnessed
            ? `${witnessed.witnesses.join(', ')}, up to ${counted(witnessed.size, 'entry', 'entries')}`
            : 'no known witness'}
        </Fact>
      </dl>
      <p className="muted">
        If you keep this <a href={url}>checkpoint</a>, you can later prove that the log only grew: that every
        entry up to here is still in its place, unaltered. A witness (<code>headwater witness</code>) keeps
        and signs each checkpoint, so that not even this service can rewrite the log;{' '}
        <code>headwater audit verify</code> checks all of it offline.
      </p>
    </>
  )
}
