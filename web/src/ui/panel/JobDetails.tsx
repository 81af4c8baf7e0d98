import { useState } from 'react'
import type { Job } from '../../api/types'
import { formatCount } from '../../core/format'
import { jobId, type NodeId } from '../../core/ids'
import { usePage } from '../page'
import { useLoaded } from '../useLoaded'
import { useNow } from '../useNow'
import { ChangesAnswer } from './ChangesAnswer'
import { NodeLinks } from './NodeLinks'
import { Quality } from './Quality'
import { Question } from './Question'
import { RunCard } from './RunCard'

const RUNS_SHOWN = 25
/** The service tells no more at once. */
const MOST_RUNS = 1_000
const MOST_PARTS = 1_000

export function JobDetails({ id, job }: { id: NodeId; job: Job }) {
  const { graph } = usePage()
  return (
    <>
      {job.description && <p>{job.description}</p>}
      <Containment id={id} />
      <NodeLinks title="Reads" nodes={graph.sources.get(id)} none="It is not known to read anything." />
      <NodeLinks title="Writes" nodes={graph.targets.get(id)} none="It is not known to write anything." />
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

/** The job around it and those within it, also where the graph does not hold them. */
function Containment({ id }: { id: NodeId }) {
  const { client, revisionOf } = usePage()
  const found = useLoaded(id, revisionOf(id), () => client.containment(id, MOST_PARTS))
  if (found.state === 'loading') return null
  if (found.state === 'failed') return <p role="alert">{found.message}</p>
  const { partOf, parts, totalCount } = found.value
  return (
    <>
      {partOf && <NodeLinks title="Part of" nodes={[jobId(partOf.namespace, partOf.name)]} />}
      {totalCount > 0 && (
        <NodeLinks
          title="Parts"
          nodes={parts.map(({ namespace, name }) => jobId(namespace, name))}
          totalCount={totalCount}
        />
      )}
    </>
  )
}

function Runs({ id, job }: { id: NodeId; job: Job }) {
  const { client, revisionOf } = usePage()
  const [limit, setLimit] = useState(RUNS_SHOWN)
  // Both only grow, so their sum tells when either did; the runs that are here stay meanwhile.
  const runs = useLoaded(id, revisionOf(id) + limit, () => client.runs(job, limit))
  const isRunning = runs.state === 'ready' && runs.value.items.some(({ state }) => state === 'RUNNING')
  const now = useNow(isRunning)
  switch (runs.state) {
    case 'loading':
      return <p role="status">Loading runs…</p>
    case 'failed':
      return <p role="alert">{runs.message}</p>
    case 'ready':
      return (
        <section>
          <h3>
            Runs <span className="muted">{formatCount(runs.value.totalCount)}</span>
          </h3>
          {runs.value.items.length === 0 && <p className="muted">It has not run yet.</p>}
          <ol className="runs">
            {runs.value.items.map((run) => (
              <RunCard key={run.id} run={run} now={now} revision={revisionOf(id)} />
            ))}
          </ol>
          {limit < Math.min(runs.value.totalCount, MOST_RUNS) && (
            <button type="button" className="link" onClick={() => setLimit(Math.min(4 * limit, MOST_RUNS))}>
              Show earlier runs
            </button>
          )}
        </section>
      )
  }
}
