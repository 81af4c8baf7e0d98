"""One run per job, from its start to its end, however often it is restarted and whichever JobManager has it.

Answers of Flink's REST API, and what they mean for the run (measured on Flink 2.1.3):

    a new job                           the run starts, at the job's `start-time`
    RUNNING, RESTARTING, more restarts  reported as RUNNING, with the figures; else every heartbeat
    FINISHED                            the run is complete; with a SYNC_SAVEPOINT it was stopped with a savepoint
    CANCELED, FAILED                    it was aborted; it failed, with the root exception
    SUSPENDED, CANCELLING, FAILING, …   nothing: a transitional state, or waiting for another JobManager
    no answer for a while               every run has ended, as far as is known: reported as inferred
    a job is no longer listed           its run has ended, likewise: a JobManager without high availability restarted
    an answer again, listing the job    reported as RUNNING, or as its true end: retracts the inferred end
    the id again, with another start    the same run if a failover took over the job, else another (`_is_same_run`)

A pure fold over polls of the cluster. A poll is the list of its jobs, and the details of those that are `wanted`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from headwater.capture.flink.jobs import Details, Failure, Figures, Listed
from headwater.capture.flink.run_ids import run_of_job

State = Literal["START", "RUNNING", "COMPLETE", "FAIL", "ABORT"]

_REPORTED_AT_ONCE: Final = frozenset({"RUNNING", "RESTARTING"})
_PATIENCE_MS: Final = 10_000
"""How long the end of a job waits for its details, which say why it failed."""
_CACHED_MS: Final = 4_000
"""How old Flink's cached answers may be by default (`web.refresh-interval`, 3 s), plus the time of a poll."""
_LISTED_FOR_MS: Final = 3_600_000
"""How long Flink lists an ended job by default (`jobstore.expiration-time`)."""
_REMEMBERED_MS: Final = 24 * 3_600_000
"""How long after an inferred end a job may reappear as the same run."""


@dataclass(slots=True)
class Run:
    """An open run, or one whose end was inferred."""

    id: str
    job_id: str
    job: str
    started_ms: int
    state: str
    """Flink's name of the job's state."""
    modified_ms: int
    seen_ms: int
    """When the cluster last listed it."""
    told_ms: int
    is_stream: bool = True
    figures: Figures = field(default_factory=Figures)
    is_lost: bool = False
    """Whether its end was inferred."""
    missed_since_ms: int | None = None
    over_since_ms: int | None = None
    """Since when it is known to have ended, without knowing how."""
    taken_up_ms: int | None = None
    """The job's start time with the JobManager that last took it over, if not the first one."""


class RunUpdate(NamedTuple):
    """A transition of a run."""

    run: Run
    """The run at that time."""
    state: State
    time_ms: int
    stop_reason: str | None = None
    failure: Failure | None = None
    savepoint: str | None = None
    silence: str | None = None
    """Why the end was inferred."""
    is_retraction: bool = False
    """Whether an inferred end is retracted."""
    ended_ms: int | None = None
    """When the run ended, if it is over and this is not its end."""


class Lifecycles:
    """All jobs of a cluster and their runs.

    Args:
        runs: the runs known before.
        over: runs that the cluster still lists but that need no more reports; None if it was never polled.
        heartbeat_ms: how often an open run is reported.
        lost_after_ms: a run's end is inferred once its job was not listed for so long.
    """

    def __init__(
        self, runs: Iterable[Run], over: Iterable[str] | None, *, heartbeat_ms: int, lost_after_ms: int
    ) -> None:
        # Time before this process started does not count as missed.
        self.runs = {run.job_id: replace(run, missed_since_ms=None) for run in runs}
        self.over = None if over is None else set(over)
        self._heartbeat_ms = heartbeat_ms
        self._lost_after_ms = lost_after_ms
        self._doubted: dict[str, int] = {}
        """Jobs with the id of a known run that may belong to another run: by key, since when they have been running."""

    def wanted(self, jobs: Sequence[Listed], now_ms: int) -> list[str]:
        """The ids of the jobs that may have to be reported, so that their details are needed."""
        return [job.id for job in jobs if not self._is_past(job) and self._may_need_report(job, now_ms)]

    def apply_poll(self, jobs: Sequence[Listed], details: Mapping[str, Details], now_ms: int) -> list[RunUpdate]:
        """Apply a poll of the cluster; returns the updates to report."""
        if self.over is None:  # jobs that ended before the first poll are not reported
            self.over = {_key(job) for job in jobs if job.is_over}
        updates = [
            update for job in jobs if not self._is_past(job) for update in self._seen(job, details.get(job.id), now_ms)
        ]
        listed = {job.id for job in jobs}
        missed = [run for run in self.runs.values() if run.job_id not in listed]
        updates += [update for run in missed for update in self._missed(run, None, now_ms, now_ms)]
        keys = {_key(job) for job in jobs}
        self.over &= keys
        self._doubted = {key: since_ms for key, since_ms in self._doubted.items() if key in keys}
        return updates

    def apply_failed_poll(self, why: str, since_ms: int, now_ms: int) -> list[RunUpdate]:
        """Apply a failed poll that began at `since_ms`."""
        return [update for run in [*self.runs.values()] for update in self._missed(run, why, since_ms, now_ms)]

    def _is_past(self, job: Listed) -> bool:
        return job.is_over and (self.over is None or _key(job) in self.over)

    def _may_need_report(self, job: Listed, now_ms: int) -> bool:
        run = self.runs.get(job.id)
        if run is None or job.is_over or run.is_lost or not _is_known(run, job):
            return True
        return self._is_news(run, job) or self._is_due(run, now_ms)

    @staticmethod
    def _is_news(run: Run, job: Listed) -> bool:
        return (run.state, run.modified_ms) != (job.state, job.modified_ms)

    def _is_due(self, run: Run, now_ms: int) -> bool:
        return now_ms - run.told_ms >= self._heartbeat_ms

    def _seen(self, job: Listed, details: Details | None, now_ms: int) -> Iterator[RunUpdate]:
        run = self.runs.get(job.id)
        if run is not None:
            is_same_run = self._is_same_run(run, job, details, now_ms)
            if is_same_run is None:
                return
            if is_same_run:
                run.taken_up_ms = job.started_ms
            else:
                yield from self._replaced(run, now_ms)
                run = None
        if run is None:
            run = self.runs[job.id] = self._begun(job, details, now_ms)
            yield RunUpdate(replace(run), "START", run.started_ms)
        before = replace(run)
        run.state, run.modified_ms, run.seen_ms, run.missed_since_ms = job.state, job.modified_ms, now_ms, None
        if details is not None:
            run.figures, run.is_stream = details.figures.or_else(run.figures), details.is_stream
        if job.is_over:
            yield from self._ended(run, job, details, now_ms)
        elif self._needs_report(before, run, now_ms):
            run.is_lost = False
            run.told_ms = max(now_ms, before.told_ms + 1)
            failure = details and details.failure
            yield RunUpdate(replace(run), "RUNNING", run.told_ms, failure=failure, is_retraction=before.is_lost)

    def _is_same_run(self, run: Run, job: Listed, details: Details | None, now_ms: int) -> bool | None:
        """Whether a job with the run's id is still this run; None while unknown.

        With another start time it is, if another JobManager took it over. But all programs of application clusters may
        share one id (32 zeros, `--job-id`). So it is another run if it has another name, if it began without the stream
        checkpoints that a failover would have restored, or from a savepoint.
        """
        if _is_known(run, job):
            return run.over_since_ms is None or job.is_over
        if job.name != run.job or run.over_since_ms is not None:
            return False
        before, after = run.figures.checkpoints, None if details is None else details.figures.checkpoints
        if before is None or not (before.completed or before.restored):
            return True  # a failover had nothing to restore
        if after is not None and after.restored:
            return not after.is_from_savepoint or after.restored_from == before.restored_from
        if after is not None and (after.completed or after.failed or after.in_progress):
            return False
        if job.state != "RUNNING" and not job.is_over:
            return None  # what it restored is only shown once it runs
        if job.is_over and details is not None:
            return True
        waited_ms = now_ms - self._doubted.setdefault(_key(job), now_ms)
        if details is None:
            return None if waited_ms < _PATIENCE_MS else True
        return None if waited_ms < _CACHED_MS else False

    def _replaced(self, run: Run, now_ms: int) -> Iterator[RunUpdate]:
        """End a run whose id now belongs to another job."""
        run.missed_since_ms = now_ms - self._lost_after_ms
        yield from self._missed(run, None, now_ms, now_ms)
        self.runs.pop(run.job_id, None)

    @staticmethod
    def _begun(job: Listed, details: Details | None, now_ms: int) -> Run:
        is_stream = details is None or details.is_stream
        return Run(
            run_of_job(job.id, job.started_ms),
            job.id,
            job.name,
            job.started_ms,
            "INITIALIZING",
            job.modified_ms,
            now_ms,
            job.started_ms,
            is_stream,
        )

    def _needs_report(self, before: Run, run: Run, now_ms: int) -> bool:
        is_new = run.state in _REPORTED_AT_ONCE and run.state != before.state
        has_restarted = (run.figures.restarts or 0) > (before.figures.restarts or 0)
        return before.is_lost or is_new or has_restarted or self._is_due(before, now_ms)

    def _ended(self, run: Run, job: Listed, details: Details | None, now_ms: int) -> Iterator[RunUpdate]:
        if run.over_since_ms is None:
            run.over_since_ms = now_ms
        if details is None and now_ms - run.over_since_ms < _PATIENCE_MS:
            return
        if details is not None and _may_be_stale(job, run, details, now_ms):
            return
        is_retraction, run.is_lost = run.is_lost, False
        update = RunUpdate(
            replace(run), "COMPLETE", max(job.ended_ms or job.modified_ms, run.started_ms), is_retraction=is_retraction
        )
        if job.state == "FAILED":
            update = update._replace(state="FAIL", failure=details and details.failure)
        elif job.state == "CANCELED":
            update = update._replace(state="ABORT", stop_reason="cancelled")
        elif details is not None and details.savepoint is not None:
            update = update._replace(stop_reason="stopped with a savepoint", savepoint=details.savepoint)
        if is_retraction and update.time_ms <= run.told_ms:  # of a facet, the report with the latest time counts
            yield update._replace(state="RUNNING", time_ms=run.told_ms + 1, ended_ms=update.time_ms)
        yield update
        del self.runs[run.job_id]
        if self.over is not None:
            self.over.add(_key(job))

    def _ended_as_known(self, run: Run) -> Iterator[RunUpdate]:
        """End the run with what is known; no more details will come."""
        job = Listed(run.job_id, run.job, run.state, run.started_ms, None, run.modified_ms)
        return self._ended(run, job, None, (run.over_since_ms or 0) + _PATIENCE_MS)

    def _missed(self, run: Run, unreachable: str | None, since_ms: int, now_ms: int) -> Iterator[RunUpdate]:
        if run.over_since_ms is not None:
            yield from self._ended_as_known(run)
            return
        if run.is_lost:
            if now_ms - run.seen_ms >= _REMEMBERED_MS:
                del self.runs[run.job_id]
            return
        if run.missed_since_ms is None:
            run.missed_since_ms = since_ms
        if now_ms - run.missed_since_ms < self._lost_after_ms:
            return
        silent_ms = now_ms - run.seen_ms
        run.is_lost = True
        run.told_ms = max(now_ms, run.told_ms + 1)
        update = RunUpdate(replace(run), "FAIL", run.told_ms)
        if unreachable is not None:
            silence = (
                f"the JobManager has not answered for {silent_ms / 1000:.0f} s ({unreachable}): it may have failed, "
            )
            yield update._replace(
                stop_reason="cluster unreachable", silence=f"{silence}or be unreachable from this machine"
            )
        elif silent_ms < _LISTED_FOR_MS:
            silence = "the cluster answers, but no longer lists the job: its JobManager was restarted and lost it"
            yield update._replace(stop_reason="lost by the cluster", silence=silence)
        else:
            silence = f"the job ended unwatched in the last {silent_ms // 60_000} min; the cluster no longer lists it"
            yield update._replace(state="ABORT", stop_reason="end not seen", silence=silence)


def _may_be_stale(job: Listed, run: Run, details: Details, now_ms: int) -> bool:
    """Whether the details of the job's end may be missing only because of Flink's cache, by either clock."""
    ends = [at_ms for at_ms in (job.ended_ms, run.over_since_ms) if at_ms is not None]
    if job.state == "CANCELED" or any(now_ms - at_ms >= _CACHED_MS for at_ms in ends):
        return False
    return details.failure is None if job.state == "FAILED" else run.is_stream and details.savepoint is None


def _is_known(run: Run, job: Listed) -> bool:
    """Whether the job's start time is known to belong to the run."""
    return job.started_ms in (run.started_ms, run.taken_up_ms)


def _key(job: Listed) -> str:
    """Distinguishes jobs with the same id, as in application clusters."""
    return run_of_job(job.id, job.started_ms)
