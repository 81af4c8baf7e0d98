"""The runs of jobs as of a time, derived from the current activities: only runs with later events are read again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from headwater.graph.past.cut import CutGraph
from headwater.graph.past.last_changes import are_silent
from headwater.graph.records import Job
from headwater.model.merging import Seen
from headwater.model.names import JobId
from headwater.service.knowledge.activities import Activities
from headwater.service.knowledge.activity import Activity, KnownRun, longest_us, named_by


class ActivitiesAsOf(Activities):
    """The activities of the jobs of a past."""

    def __init__(
        self,
        graph: CutGraph,
        now: Activities,
        until_us: int,
        interval_from_runs: Callable[[JobId, AbstractSet[str]], Seen | None],
    ) -> None:
        """`interval_from_runs` returns a job's first and last event, if known without examining its runs.

        It is given those of them that are folded again.
        """
        super().__init__(graph)
        self._cut = graph
        self._now = now
        self._until_us = until_us
        self._interval_from_runs = interval_from_runs

    def reported_run(self, run_id: str) -> KnownRun | None:
        """As in `Activities`: the current run, if it (or its parts, where it has no own events) has no later events."""
        if run_id not in self._cut.again.runs and (run := self._now.reported_run(run_id)) is not None:
            is_silent_again = not run.has_events and run_id in self._cut.again.child_runs
            if run.seen.last_us <= self._until_us and not is_silent_again:
                return run
        return super().reported_run(run_id)

    def _known_run(self, run_id: str) -> KnownRun | None:
        cut = self._cut
        if run_id in cut.now.runs or run_id in cut.again.child_runs:
            return super()._known_run(run_id)
        return self._named_by_last(run_id) or named_by(run_id, cut.parts_as_then(run_id))

    def _named_by_last(self, run_id: str) -> KnownRun | None:
        """A run without events, as its latest part named it by then; None if other parts may name it otherwise."""
        claims, known = self._cut.now.child_runs.get(run_id, {}), self._now.reported_run(run_id)
        if len(claims) != 1 or known is None or self._cut.reporting_runs is None:
            return None
        ((job, parts),) = claims.items()
        last = self._cut.reporting_runs.last(job)
        if last is None or last not in parts or not self._cut.again.runs.keys().isdisjoint(parts):
            return None
        part = self._cut.now.runs[last]
        if part.of_job is None or part.of_job.stamp.time_us != self._cut.reporting_runs.last_alone_us(job):
            return None
        named = named_by(run_id, [part])
        return named and named.with_seen(Seen(known.seen.first_us, named.seen.last_us))

    def _activity_without_runs(self, job: JobId) -> Activity | None:
        """As in `Activities`: the current one, or composed from the intervals of the job's runs."""
        if self._cut.is_job_as_then(job):
            return self._now.of(job)
        known = self._cut.jobs[job]
        again = self._current_runs_again(job)
        if again is not None:
            current = self._now.of(job)
            newest_first: Sequence[str] = current.begun_by(self._until_us, self._first_us)
            seen = self._interval_from_runs(job, again) or Seen.over(run.seen for run in self._known_runs(newest_first))
            longest = current.longest_us  # an upper bound: the longest run may have begun since
            # Without a parent now, no run ever named one.
            is_part, ended = current.parent is not None, self._ended_run(again, newest_first, current)
        else:
            intervals = ((run_id, self._interval_in_job(run_id, job)) for run_id in known.runs | known.named)
            times = {run_id: seen for run_id, seen in intervals if seen is not None}
            newest_first = sorted(times, key=lambda run_id: (-times[run_id].first_us, run_id))
            seen = Seen.over((*times.values(), known.declared_over))
            longest = longest_us(times.values())
            is_part, ended = True, self._first_ended(newest_first)
        if not newest_first or seen is None:
            return None  # only others mention the job
        parents = (run.parent for run in self._known_runs(newest_first if is_part else ()) if run.parent is not None)
        return Activity(tuple(newest_first), next(parents, None), ended, seen, longest)

    def _ended_run(self, again: AbstractSet[str], newest_first: Sequence[str], current: Activity) -> str | None:
        """The newest run that had ended; `current` is the activity of now, which is of the same runs."""
        ended = current.ended_run
        if not again:
            return ended if ended is None or self._has_begun(ended) else self._first_ended(newest_first)
        return self._first_ended(filter(again.__contains__, newest_first) if ended is None else newest_first)

    def _first_ended(self, run_ids: Iterable[str]) -> str | None:
        return next((run.run_id for run in self._known_runs(run_ids) if run.ended_us is not None), None)

    def _current_runs_again(self, name: JobId) -> AbstractSet[str] | None:
        """The job's runs that are folded again, if only runs mention it now and then, as its runs and parts.

        None otherwise; runs without events count by their parts.
        """
        now = self._cut.now.jobs.get(name)
        if now is None or now.declared_over is not None or (again := self._cut.own_runs_again(name)) is None:
            return None
        if not self._cut.again.runs.keys().isdisjoint(now.children):
            return None
        is_only = bool(now.runs) if not now.named else are_silent(self._cut.now, now) and not self._is_part_again(now)
        return again if is_only else None

    def _is_part_again(self, now: Job) -> bool:
        return not self._cut.again.child_runs.keys().isdisjoint(now.named)

    def _has_begun(self, run_id: str) -> bool:
        return self._first_us(run_id) <= self._until_us

    def _first_us(self, run_id: str) -> int:
        """The first event of a run that is known now, by its own events if it has any."""
        known = self._cut.now.runs.get(run_id)
        if known is not None and known.times is not None:
            return known.times.seen.first_us
        run = self._now.reported_run(run_id)
        return self._until_us + 1 if run is None else run.seen.first_us

    def _known_runs(self, run_ids: Iterable[str]) -> Iterator[KnownRun]:
        return (run for run_id in run_ids if (run := self.reported_run(run_id)) is not None)

    def _interval_in_job(self, run_id: str, job: JobId) -> Seen | None:
        """The interval of a run, if it belongs to the job."""
        known = self._cut.now.runs.get(run_id)
        if known is not None and known.times is not None and self._cut.is_run_as_then(run_id):
            is_of_it = known.of_job is not None and known.of_job.job == job
            return known.times.seen if is_of_it else None
        run = self.reported_run(run_id)
        return run.seen if run is not None and run.job == job else None
