import { useState } from 'react'
import { ItemCache } from '../../api/itemCache'
import type { Job, Run } from '../../api/types'
import { sqlIn } from '../../core/facets'
import { formatCount } from '../../core/format'
import type { Named } from '../../core/ids'
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
import { RootCauseAnswer } from './RootCauseAnswer'
import { RunCard } from './RunCard'

const RUNS_SHOWN = 25
/** For runs that have ended: a constant time, so that they are not rendered again each second. */
const ANY_TIME = new Date(0)

export function JobDetails({ id, job }: { id: NodeId; job: Job }) {
  return (
    <>
      {job.description && <LongText text={job.description} />}
      <Facets id={id} job={job} />
      <Containment id={id} />
      <Neighbours of={id} direction="upstream" type="JOB" title="Receives data from" />
      <Neighbours
        of={id}
        direction="upstream"
        type="DATASET"
        title="Reads"
        none="It is not known to read any dataset."
      />
      <Neighbours
        of={id}
        direction="downstream"
        type="DATASET"
        title="Writes"
        none="It is not known to write any dataset."
      />
      <Neighbours of={id} direction="downstream" type="JOB" title="Passes data to" />
      <section className="questions" aria-label="Questions">
        <Question of="why" text="Why might its output be wrong?">
          <RootCauseAnswer node={id} />
        </Question>
        <Question of="changes" text="What changed?">
          <ChangesAnswer node={id} />
        </Question>
      </section>
      <Quality of={id} />
      <Runs id={id} job={job} />
    </>
  )
}

/** What the graph does not hold: owners, tags, and the SQL, collapsed. */
function Facets({ id, job }: { id: NodeId; job: Job }) {
  const { client, nodeRevision } = usePage()
  const whole = useLoaded(id, nodeRevision(id), () => client.job(job))
  if (whole.state !== 'ready') return null // the lists below report the error
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

/** The job's parent and parts, whether or not they are in the graph. */
function Containment({ id }: { id: NodeId }) {
  const { client, nodeRevision } = usePage()
  const more = useMore()
  const found = useLoaded(id, nodeRevision(id) + more.count, () => client.containment(id, more.count))
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
  const { client, nodeRevision } = usePage()
  const more = useMore(RUNS_SHOWN)
  const [cache] = useState(() => new ItemCache<Run>())
  // Both only grow, so their sum changes when either does; the loaded runs stay meanwhile.
  const runs = useLoaded(id, nodeRevision(id) + more.count, async () => {
    const { items, totalCount } = await client.runs(job, more.count)
    return { items: cache.reuse(items), totalCount }
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
