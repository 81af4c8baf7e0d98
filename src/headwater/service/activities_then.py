"""What jobs had done by some time, told from what is known now: only runs that spoke since are looked at anew."""

from collections.abc import Iterable, Iterator, Sequence

from headwater.graph.cut import CutGraph
from headwater.graph.records import Job
from headwater.model.facts import Seen
from headwater.model.names import JobId
from headwater.service.activities import Activities
from headwater.service.activity import Activity, KnownRun


class ActivitiesThen(Activities):
    """What the jobs of a past did."""

    def __init__(self, graph: CutGraph, now: Activities, until_us: int) -> None:
        super().__init__(graph)
        self._cut = graph
        self._now = now
        self._until_us = until_us

    def run(self, run_id: str) -> KnownRun | None:
        """As of now where neither the run nor, if it is silent, its parts spoke since."""
        if run_id not in self._cut.again.runs:
            run = self._now.run(run_id)
            is_silent_again = run is not None and not run.has_events and run_id in self._cut.again.child_runs
            if run is not None and run.seen.last_us <= self._until_us and not is_silent_again:
                return run
        return super().run(run_id)

    def _told(self, job: JobId) -> Activity | None:
        """As of now, or put together from when the job's runs spoke."""
        if self._cut.is_job_as_then(job):
            return self._now.of(job)
        known = self._cut.jobs[job]
        done = self._now.of(job) if self._is_told_by_runs_of_now(known) else None
        if done is not None:
            newest_first: Sequence[str] = [run_id for run_id in done.runs if run_id in known.runs]
            seen = Seen.over(self._spoke(run_id) for run_id in newest_first)
        else:
            told = ((run_id, self._heard_of(run_id, job)) for run_id in known.runs | known.named)
            times = {run_id: seen for run_id, seen in told if seen is not None}
            newest_first = sorted(times, key=lambda run_id: (-times[run_id].first_us, run_id))
            seen = Seen.over((*times.values(), known.declared_over))
        if not newest_first or seen is None:
            return None  # what others tell of the job is all there is
        is_part = done is None or done.parent is not None  # else none of its runs ever named a parent
        parents = (run.parent.job for run in self._known(newest_first if is_part else ()) if run.parent is not None)
        ended = None if done is None else done.ended_run  # the newest now that ended, be it since
        if done is None or (ended is not None and ended not in known.runs):
            ended = next((run.run_id for run in self._known(newest_first) if run.ended_us is not None), None)
        return Activity(tuple(newest_first), next(parents, None), ended, seen)

    def _is_told_by_runs_of_now(self, known: Job) -> bool:
        """Whether all that tells of the job are runs of which nothing is told now that was not told then."""
        if not known.runs or known.named or known.declared_over is not None:
            return False
        return self._cut.again.runs.keys().isdisjoint(known.runs)

    def _spoke(self, run_id: str) -> Seen | None:
        times = self._cut.now.runs[run_id].times
        return None if times is None else times.seen

    def _known(self, run_ids: Iterable[str]) -> Iterator[KnownRun]:
        return (run for run_id in run_ids if (run := self.run(run_id)) is not None)

    def _heard_of(self, run_id: str, job: JobId) -> Seen | None:
        """When a run was heard of as one of the job's."""
        known = self._cut.now.runs.get(run_id)
        if known is not None and known.times is not None and self._cut.is_run_as_then(run_id):
            is_of_it = known.of_job is not None and known.of_job.job == job
            return known.times.seen if is_of_it else None
        run = self.run(run_id)
        return run.seen if run is not None and run.job == job else None
