import type { KnownGap, SilentStream } from '../../api/answers'
import { undefinedIfForbidden } from '../../api/client'
import type { Page } from '../../api/paged'
import type { Job } from '../../api/types'
import { runError } from '../../core/facets'
import { formatCount, formatDuration } from '../../core/format'
import { datasetId, jobId, likelyNamed } from '../../core/ids'
import { isolatedNames } from '../../core/isolated'
import { datasetLabel, labelText } from '../../core/labels'
import { withoutListed } from '../../core/silentRuns'
import { streakOf } from '../../core/streak'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { NodeLink, PlacedLink } from '../panel/NodeLinks'
import { RunErrorText } from '../panel/RunErrorText'
import { ShowMore } from '../ShowMore'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { type More, useMore } from '../useMore'
import { useThrottledRevision } from '../useThrottledRevision'
import { useTicks } from '../useTicks'

/** Items of each list at first. */
const SHOWN = 50

/** The starting point on call: the jobs whose last run failed, and the streams that have gone silent. */
export function FailuresView() {
  const { client, revision } = usePage()
  const [moreJobs, moreStreams, moreRuns] = [useMore(SHOWN), useMore(SHOWN), useMore(SHOWN)]
  // All only grow, so their sum changes when any of them does.
  const version =
    useThrottledRevision(revision) + useTicks() + moreJobs.count + moreStreams.count + moreRuns.count
  const found = useLoaded('failures', version, () =>
    Promise.all([
      client.failedJobs(moreJobs.count),
      Promise.all([
        client.silentStreams(moreStreams.count),
        client.gaps('silent-stream', moreRuns.count),
        client.gaps('run-without-end', moreRuns.count),
      ]).catch(undefinedIfForbidden),
    ]),
  )
  return (
    <div className="sheet">
      <h2>Failures</h2>
      <p className="lead">
        Jobs whose last run failed, and silent runs without an end. A job leaves this list with its next run.
      </p>
      <Awaited of={found} doing="Loading failures">
        {([jobs, silent]) => (
          <>
            <FailedJobs jobs={jobs} more={moreJobs} />
            {silent ? (
              <Silent silent={silent} moreStreams={moreStreams} moreRuns={moreRuns} />
            ) : (
              <Forbidden />
            )}
          </>
        )}
      </Awaited>
    </div>
  )
}

interface SilentProps {
  readonly silent: readonly [Page<SilentStream>, Page<KnownGap>, Page<KnownGap>]
  readonly moreStreams: More
  readonly moreRuns: More
}

function Silent({ silent: [streams, endless, stuck], moreStreams, moreRuns }: SilentProps) {
  return (
    <>
      {streams.totalCount > 0 && <StaleStreams streams={streams} more={moreStreams} />}
      <SilentRuns
        more={moreRuns}
        silences={withoutListed([...endless.items, ...stuck.items], streams.items)}
        unlisted={[endless, stuck].reduce((sum, { items, totalCount }) => sum + totalCount - items.length, 0)}
      />
    </>
  )
}

function Forbidden() {
  return <p className="muted">Silent streams and runs are shown only to those who may see every namespace.</p>
}

interface FailedJobsProps {
  readonly jobs: Page<Job>
  readonly more: More
}

function FailedJobs({ jobs: { items, totalCount }, more }: FailedJobsProps) {
  if (totalCount === 0) return <p>No job's last run failed, as far as events report.</p>
  return (
    <section aria-labelledby="failed">
      <h3 id="failed">
        Failed <span className="muted">{formatCount(totalCount)}</span>
      </h3>
      <ol className="items">
        {items.map((job) => (
          <FailedJob key={jobId(job.namespace, job.name)} job={job} />
        ))}
      </ol>
      <ShowMore more={more} shown={items.length} totalCount={totalCount} />
    </section>
  )
}

function FailedJob({ job: { namespace, name, latestRun, latestRuns, outputs } }: { job: Job }) {
  const { failed, lastSuccess } = streakOf(latestRuns ?? [])
  const error = latestRun && runError(latestRun.facets)
  const endedAt = latestRun?.endedAt ?? latestRun?.startedAt
  return (
    <li className="item" aria-label={name}>
      <p className="item-head">
        <PlacedLink node={jobId(namespace, name)} named={{ namespace, name }} />
        {endedAt && <Time at={endedAt} />}
        <span className="muted">
          {failed > 1 && `${counted(failed, 'failed run')} in a row, `}
          {lastSuccess ? 'last succeeded at ' : 'none of its newest runs succeeded'}
          {lastSuccess && <Time at={lastSuccess} />}
        </span>
      </p>
      {error ? <RunErrorText error={error} /> : <p className="muted">It reported no reason.</p>}
      {outputs && outputs.length > 0 && (
        <p className="item-head">
          <span className="muted">writes</span>
          {outputs.map((output) => (
            <NodeLink
              key={JSON.stringify(output)}
              node={datasetId(output.namespace, output.name)}
              name={labelText(datasetLabel(output))}
            />
          ))}
        </p>
      )}
    </li>
  )
}

interface StaleStreamsProps {
  readonly streams: Page<SilentStream>
  readonly more: More
}

function StaleStreams({ streams: { items, totalCount }, more }: StaleStreamsProps) {
  return (
    <section aria-labelledby="stale">
      <h3 id="stale">
        Stale streams <span className="muted">{formatCount(totalCount)}</span>
      </h3>
      <ol className="items">
        {items.map(({ job, run, lastHeard, windowSeconds }) => (
          <li key={run} className="item" aria-label={job.name}>
            <p className="item-head">
              <PlacedLink node={jobId(job.namespace, job.name)} named={job} />
              <span className="muted">
                last event <Time at={lastHeard} />, expected every {formatDuration(windowSeconds * 1_000)}
              </span>
            </p>
          </li>
        ))}
      </ol>
      <ShowMore more={more} shown={items.length} totalCount={totalCount} />
    </section>
  )
}

interface SilentRunsProps {
  readonly silences: readonly KnownGap[]
  /** How many more there are on the service. */
  readonly unlisted: number
  readonly more: More
}

/** Silent runs of batch jobs, and of streams that announced no interval between events. */
function SilentRuns({ silences, unlisted, more }: SilentRunsProps) {
  if (silences.length === 0) return null
  const totalCount = silences.length + unlisted
  return (
    <section aria-labelledby="without-end">
      <h3 id="without-end">
        Silent runs without an end <span className="muted">{formatCount(totalCount)}</span>
      </h3>
      <ol className="items">
        {silences.map(({ nodeId, namespace, words, at, related }) => (
          <li key={nodeId} className="item">
            <p>
              {isolatedNames(words)} <Time at={at} />
            </p>
            <p className="item-head">
              {related.map((job) => (
                <PlacedLink key={job} node={job} named={likelyNamed(job, namespace)} />
              ))}
            </p>
          </li>
        ))}
      </ol>
      <ShowMore more={more} shown={silences.length} totalCount={totalCount} />
    </section>
  )
}
