import type { Job } from '../../api/types'
import { formatDuration } from '../../core/format'
import { jobId } from '../../core/ids'
import { stripOf, stripText } from '../../core/runStrip'
import { displayState, runDuration, stateLabel } from '../../core/runs'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { PlacedLink } from '../panel/NodeLinks'
import { ShowMore } from '../ShowMore'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { useMore } from '../useMore'
import { useNowUpdatedAt } from '../useNow'
import { useThrottledRevision } from '../useThrottledRevision'
import type { Filters } from './CatalogView'

/** Jobs at first. */
const SHOWN = 50

/** Jobs, the last reported first, each with its newest runs. */
export function JobTable({ namespace, state }: Filters) {
  const { client, revision } = usePage()
  const more = useMore(SHOWN)
  const version = useThrottledRevision(revision) + more.count // both only grow
  const found = useLoaded('jobs', version, () => client.listedJobs(namespace, state, more.count))
  return (
    <Awaited of={found} doing="Loading jobs">
      {({ items, totalCount }) =>
        totalCount === 0 ? (
          <p className="muted">No such job is known.</p>
        ) : (
          <section aria-label="Jobs">
            <p className="lead">{counted(totalCount, 'job')}, the last reported first</p>
            <table className="catalog">
              <thead>
                <tr>
                  <th scope="col">Job</th>
                  <th scope="col">Last run</th>
                  <th scope="col">At</th>
                  <th scope="col">Took</th>
                  <th scope="col">Newest runs</th>
                </tr>
              </thead>
              <tbody>
                {items.map((job) => (
                  <Row key={jobId(job.namespace, job.name)} job={job} />
                ))}
              </tbody>
            </table>
            <ShowMore more={more} shown={items.length} totalCount={totalCount} />
          </section>
        )
      }
    </Awaited>
  )
}

function Row({ job: { namespace, name, latestRun, latestRuns } }: { job: Job }) {
  const now = useNowUpdatedAt(latestRun?.staleAfter)
  const at = latestRun?.startedAt ?? latestRun?.endedAt
  const took = latestRun ? runDuration(latestRun, now) : undefined
  const state = latestRun ? displayState(latestRun, now) : undefined
  const strip = stripOf(latestRuns ?? [], now)
  return (
    <tr>
      <th scope="row">
        <span className="item-head">
          <PlacedLink node={jobId(namespace, name)} named={{ namespace, name }} />
        </span>
      </th>
      <td data-label="Last run">
        {latestRun ? (
          <span className="state" data-state={state}>
            <span className="state-dot" data-state={state} />
            {stateLabel(latestRun, now)}
          </span>
        ) : (
          <span className="muted">no run known</span>
        )}
      </td>
      <td data-label="At">{at && <Time at={at} />}</td>
      <td data-label="Took">{took !== undefined && formatDuration(took)}</td>
      <td data-label="Newest runs">
        {strip.length > 0 && (
          <span className="strip" role="img" aria-label={stripText(strip)} title={stripText(strip)}>
            {strip.map((each, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the dots are drawn by their place
              <span key={index} className="state-dot" data-state={each} />
            ))}
          </span>
        )}
      </td>
    </tr>
  )
}
