import type { KnownGap, SilentStream } from '../../api/answers'
import type { Page } from '../../api/paged'
import type { Job } from '../../api/types'
import { runError } from '../../core/facets'
import { formatCount, formatDuration } from '../../core/format'
import { datasetId, jobId, type NodeId } from '../../core/ids'
import { withoutPromise } from '../../core/silence'
import { streakOf } from '../../core/streak'
import { counted } from '../../core/wording'
import { Awaited } from '../Awaited'
import { usePage } from '../page'
import { NodeLink } from '../panel/NodeLinks'
import { RunErrorText } from '../panel/RunErrorText'
import { Time } from '../Time'
import { useLoaded } from '../useLoaded'
import { useSlowly } from '../useSlowly'
import { useTicks } from '../useTicks'

const SHOWN = 50

/** Where to begin at night: the jobs whose last run failed, and the streams that have gone silent. */
export function FailuresView() {
  const { client, revision } = usePage()
  const found = useLoaded('failures', useSlowly(revision) + useTicks(), () =>
    Promise.all([
      client.failedJobs(SHOWN),
      client.silentStreams(SHOWN),
      client.gaps('silent-stream', SHOWN),
      client.gaps('run-without-end', SHOWN),
    ]),
  )
  return (
    <div className="sheet">
      <h2>Failures</h2>
      <p className="lead">
        Jobs whose last run failed, and runs that told no end and have gone silent. A job leaves this list
        with its next run.
      </p>
      <Awaited of={found} doing="Looking for what failed">
        {([jobs, streams, endless, stuck]) => (
          <>
            <FailedJobs jobs={jobs} />
            {streams.totalCount > 0 && <SilentStreams streams={streams} />}
            <SilentRuns
              silences={withoutPromise([...endless.items, ...stuck.items], streams.items)}
              unlisted={[endless, stuck].reduce(
                (sum, { items, totalCount }) => sum + totalCount - items.length,
                0,
              )}
            />
          </>
        )}
      </Awaited>
    </div>
  )
}

function FailedJobs({ jobs: { items, totalCount } }: { jobs: Page<Job> }) {
  if (totalCount === 0) return <p>No job's last run failed, as far as events tell.</p>
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
      <More shown={items.length} totalCount={totalCount} />
    </section>
  )
}

function FailedJob({ job: { namespace, name, latestRun, latestRuns, outputs } }: { job: Job }) {
  const { failed, wentWell } = streakOf(latestRuns ?? [])
  const error = latestRun && runError(latestRun.facets)
  const endedAt = latestRun?.endedAt ?? latestRun?.startedAt
  return (
    <li className="item" aria-label={name}>
      <p className="item-head">
        <NodeLink node={jobId(namespace, name)} />
        {endedAt && <Time at={endedAt} />}
        <span className="muted">
          {failed > 1 && `${counted(failed, 'failed run')} in a row, `}
          {wentWell ? 'went well last at ' : 'no run that went well is among its newest'}
          {wentWell && <Time at={wentWell} />}
        </span>
      </p>
      {error ? <RunErrorText error={error} /> : <p className="muted">It did not say why.</p>}
      {outputs && outputs.length > 0 && (
        <p className="item-head">
          <span className="muted">writes</span>
          {outputs.map((output) => (
            <NodeLink key={JSON.stringify(output)} node={datasetId(output.namespace, output.name)} />
          ))}
        </p>
      )}
    </li>
  )
}

function SilentStreams({ streams: { items, totalCount } }: { streams: Page<SilentStream> }) {
  return (
    <section aria-labelledby="silent">
      <h3 id="silent">
        Silent streams <span className="muted">{formatCount(totalCount)}</span>
      </h3>
      <ol className="items">
        {items.map(({ job, run, lastHeard, windowSeconds }) => (
          <li key={run} className="item" aria-label={job.name}>
            <p className="item-head">
              <NodeLink node={jobId(job.namespace, job.name)} />
              <span className="muted">
                heard last at <Time at={lastHeard} />; it promised a word every{' '}
                {formatDuration(windowSeconds * 1_000)}
              </span>
            </p>
          </li>
        ))}
      </ol>
      <More shown={items.length} totalCount={totalCount} />
    </section>
  )
}

interface SilentRunsProps {
  readonly silences: readonly KnownGap[]
  /** How many more there are. */
  readonly unlisted: number
}

/** Of streams that promised no word, and of batches. */
function SilentRuns({ silences, unlisted }: SilentRunsProps) {
  if (silences.length === 0) return null
  const totalCount = silences.length + unlisted
  return (
    <section aria-labelledby="without-end">
      <h3 id="without-end">
        Silent, and not ended <span className="muted">{formatCount(totalCount)}</span>
      </h3>
      <ol className="items">
        {silences.map(({ nodeId, words, at, related }) => (
          <li key={nodeId} className="item">
            <p>
              {words} <Time at={at} />
            </p>
            <p className="item-head">
              {related.map((job) => (
                <NodeLink key={job} node={job as NodeId} />
              ))}
            </p>
          </li>
        ))}
      </ol>
      <More shown={silences.length} totalCount={totalCount} />
    </section>
  )
}

function More({ shown, totalCount }: { shown: number; totalCount: number }) {
  return totalCount > shown && <p className="muted">{formatCount(totalCount - shown)} more are not shown.</p>
}
