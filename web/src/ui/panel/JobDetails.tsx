import { useState } from 'react'
import type { Job, Named, Run } from '../../api/types'
import { Unchanged } from '../../api/unchanged'
import { sqlIn } from '../../core/facets'
import { formatCount } from '../../core/format'
import { jobId, type NodeId } from '../../core/ids'
import { jobLabel, labelText } from '../../core/labels'
import { LongText } from '../LongText'
import { usePage } from '../page'
import { ShowMore } from '../ShowMore'
import { useLoaded } from '../useLoaded'
import { useMore } from '../useMore'
import { useNow } from '../useNow'
import { About } from './About'
import { ChangesAnswer } from './ChangesAnswer'
import { Fault } from './Faults'
import { Neighbours } from './Neighbours'
import { NodeLinks } from './NodeLinks'
import { Quality } from './Quality'
import { Question } from './Question'
import { RunCard } from './RunCard'

const RUNS_SHOWN = 25
/** For runs that do not go on: at any time they are the same, and are not drawn anew with each second. */
const ANY_TIME = new Date(0)

export function JobDetails({ id, job }: { id: NodeId; job: Job }) {
  return (
    <>
      {job.description && <LongText text={job.description} />}
      <Told id={id} job={job} />
      <Containment id={id} />
      <Neighbours of={id} way="upstream" type="JOB" title="Takes data from" />
      <Neighbours
        of={id}
        way="upstream"
        type="DATASET"
        title="Reads"
        none="It is not known to read any dataset."
      />
      <Neighbours
        of={id}
        way="downstream"
        type="DATASET"
        title="Writes"
        none="It is not known to write any dataset."
      />
      <Neighbours of={id} way="downstream" type="JOB" title="Hands data to" />
      <section className="questions" aria-label="Questions">
        <Question of="changes" words="What changed?">
          <ChangesAnswer node={id} />
        </Question>
      </section>
      <Quality of={id} />
      <Runs id={id} job={job} />
    </>
  )
}

/** What the graph does not hold of it: owners, tags, and its SQL, folded away. */
function Told({ id, job }: { id: NodeId; job: Job }) {
  const { client, revisionOf } = usePage()
  const whole = useLoaded(id, revisionOf(id), () => client.job(job))
  if (whole.state !== 'ready') return null // the lists below say why it does not come
  const { facets = {}, tags = [] } = whole.value
  const sql = sqlIn(facets)
  return (
    <>
      <About facets={facets} tags={tags} />
      {sql && (
        <details className="question">
          <summary>SQL</summary>
          <pre className="text">{sql}</pre>
        </details>
      )}
    </>
  )
}

/** The job around it and those within it, also where the graph does not hold them. */
function Containment({ id }: { id: NodeId }) {
  const { client, revisionOf } = usePage()
  const more = useMore()
  const found = useLoaded(id, revisionOf(id) + more.count, () => client.containment(id, more.count))
  if (found.state === 'loading') return null
  if (found.state === 'failed') return <Fault message={found.message} />
  const { partOf, parts, totalCount } = found.value
  return (
    <>
      {partOf && <NodeLinks title="Part of" nodes={[linked(partOf)]} />}
      {totalCount > 0 && (
        <NodeLinks title="Parts" nodes={parts.map(linked)} totalCount={totalCount} more={more} />
      )}
    </>
  )
}

function linked({ namespace, name }: Named) {
  return { id: jobId(namespace, name), name: labelText(jobLabel({ namespace, name })) }
}

function Runs({ id, job }: { id: NodeId; job: Job }) {
  const { client, revisionOf } = usePage()
  const more = useMore(RUNS_SHOWN)
  const [unchanged] = useState(() => new Unchanged<Run>())
  // Both only grow, so their sum tells when either did; the runs that are here stay meanwhile.
  const runs = useLoaded(id, revisionOf(id) + more.count, async () => {
    const { items, totalCount } = await client.runs(job, more.count)
    return { items: unchanged.kept(items), totalCount }
  })
  const isRunning = runs.state === 'ready' && runs.value.items.some(({ state }) => state === 'RUNNING')
  const now = useNow(isRunning)
  switch (runs.state) {
    case 'loading':
      return <p role="status">Loading runs…</p>
    case 'failed':
      return <Fault message={runs.message} />
    case 'ready':
      return (
        <section>
          <h3>
            Runs <span className="muted">{formatCount(runs.value.totalCount)}</span>
          </h3>
          {runs.value.items.length === 0 && <p className="muted">It has not run yet.</p>}
          <ol className="runs">
            {runs.value.items.map((run) => (
              <RunCard key={run.id} job={id} run={run} now={run.state === 'RUNNING' ? now : ANY_TIME} />
            ))}
          </ol>
          <ShowMore more={more} shown={runs.value.items.length} totalCount={runs.value.totalCount} />
        </section>
      )
  }
}
