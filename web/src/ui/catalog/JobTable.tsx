import type { Job } from '../../api/types'
import { formatDuration } from '../../core/format'
import { jobId } from '../../core/ids'
import type { CatalogRoute } from '../../core/route'
import { stripOf, stripText } from '../../core/runStrip'
import { displayState, runDuration, stateLabel } from '../../core/runs'
import { usePage } from '../page'
import { Time } from '../Time'
import { useNowUpdatedAt } from '../useNow'
import { CatalogTable, NameCell } from './CatalogTable'

/** Jobs, the last reported first, each with its newest runs. */
export function JobTable({ namespace, state }: Pick<CatalogRoute, 'namespace' | 'state'>) {
  const { client } = usePage()
  return (
    <CatalogTable
      noun="job"
      order="the last reported first"
      heads={['Job', 'Last run', 'At', 'Took', 'Newest runs']}
      load={(count) => client.listedJobs(namespace, state, count)}
      row={(job) => <Row key={jobId(job.namespace, job.name)} job={job} />}
    />
  )
}

function Row({ job }: { job: Job }) {
  const { namespace, name, latestRun, latestRuns } = job
  const now = useNowUpdatedAt(latestRun?.staleAfter)
  const at = latestRun?.startedAt ?? latestRun?.endedAt
  const took = latestRun ? runDuration(latestRun, now) : undefined
  const state = latestRun ? displayState(latestRun, now) : undefined
  const strip = stripOf(latestRuns ?? [], now)
  return (
    <tr>
      <NameCell node={jobId(namespace, name)} named={job} />
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
