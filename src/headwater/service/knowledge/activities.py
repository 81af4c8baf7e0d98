"""The activity of jobs, cached: for a job that was touched, only the runs with new events are read again.

A job may have any number of runs, and each of their events touches it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from headwater.graph.lineage import Graph
from headwater.graph.records import Run
from headwater.model.facts import ParentRun, RunOfJob
from headwater.model.merging import Seen
from headwater.model.names import JobId
from headwater.service.knowledge.activity import (
    Activity,
    KnownRun,
    activity_in,
    known_runs,
    reported_run,
    with_resolved_parents,
)
from headwater.service.tallies.ordered import Ordered

_Key = tuple[int, str]
"""Sorts runs newest first: minus the time of the first event, then the id."""


class RunSnapshot(NamedTuple):
    """A run's own statements before an event: its job, and its first and last event; None if it had made none."""

    of_job: RunOfJob | None
    seen: Seen | None


@dataclass(slots=True)
class _CachedActivity:
    """A job's cached activity, with what is needed to update it."""

    activity: Activity
    order: Ordered[_Key] | None = None
    """Its runs in order; None if they were not read."""
    silent: dict[str, Seen] = field(default_factory=dict)
    """Its runs without events of their own, with the first and last event of their children."""
    with_parent: _Key | None = None
    """The newest run that names a parent."""
    ended: _Key | None = None
    is_touched: bool = False
    before: dict[str, Seen | None] = field(default_factory=dict)
    """Per run with events since: its interval before, if it was a run of this job."""


class Activities:
    """The activities of the jobs of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._cached: dict[JobId, _CachedActivity] = {}
        self._silent: dict[str, KnownRun] = {}
        """Cached runs without events of their own; thousands of others may name each."""

    def run(self, run_id: str) -> KnownRun | None:
        """The run, or None if no event names it."""
        run = self.reported_run(run_id)
        return None if run is None else with_resolved_parents(self._graph, run)

    def reported_run(self, run_id: str) -> KnownRun | None:
        """The run, with parent and root as its own events name them; None if no event names it."""
        run = self._silent.get(run_id)
        if run is None and (run := self._known_run(run_id)) is not None and not run.has_events:
            self._silent[run_id] = run
        return run

    def _known_run(self, run_id: str) -> KnownRun | None:
        return reported_run(self._graph, run_id)

    def snapshot(self, run_ids: Iterable[str]) -> Mapping[str, RunSnapshot]:
        """Snapshots of runs, taken before the graph learns more about them; to be passed to `touch`."""
        return {run_id: _snapshot(self._graph.runs.get(run_id)) for run_id in run_ids}

    def touch(self, jobs: Iterable[JobId], before: Mapping[str, RunSnapshot]) -> None:
        """Mark jobs, and the runs that changed, given as snapshots from before."""
        silent = {*self._silent_parents(before)}
        for run_id in chain(before, silent):
            self._silent.pop(run_id, None)
        touched = [(job, cached) for job in jobs if (cached := self._cached.get(job)) is not None]
        for job, cached in touched:
            if cached.order is None:
                del self._cached[job]
                continue
            cached.is_touched = True
            for run_id, was in before.items():
                was_of_it = was.of_job is not None and was.of_job.job == job
                cached.before.setdefault(run_id, was.seen if was_of_it else None)
            for run_id in silent:
                cached.before.setdefault(run_id, None)

    def _silent_parents(self, before: Mapping[str, RunSnapshot]) -> Iterable[str]:
        """The parents and roots, now or before, of these runs that have no events of their own."""
        for run_id, (of_job, _) in before.items():
            now = self._graph.runs[run_id].of_job
            for parent in (part for statement in (of_job, now) if statement is not None for part in statement.parts_of):
                if _snapshot(self._graph.runs.get(parent.run_id)).seen is None:
                    yield parent.run_id

    def of(self, job: JobId) -> Activity:
        """The activity of a known job."""
        cached = self._cached.get(job)
        if cached is None or (cached.is_touched and not self._catch_up(job, cached)):
            cached = self._cached[job] = self._computed(job)
        return cached.activity

    def _activity_without_runs(self, job: JobId) -> Activity | None:
        """Hook: the activity of a job, if it is known without reading its runs."""
        return None

    def _computed(self, job: JobId) -> _CachedActivity:
        if (activity := self._activity_without_runs(job)) is not None:
            return _CachedActivity(activity)
        runs = known_runs(self._graph, job)
        order: Ordered[_Key] = Ordered()
        for run in runs:
            order.add(_key(run.run_id, run.seen))
        return _CachedActivity(
            activity_in(self._graph, job, runs),
            order,
            {run.run_id: run.seen for run in runs if not run.has_events},
            next((_key(run.run_id, run.seen) for run in runs if run.parent is not None), None),
            next((_key(run.run_id, run.seen) for run in runs if run.ended_us is not None), None),
        )

    def _catch_up(self, job: JobId, cached: _CachedActivity) -> bool:
        """Read the runs that changed; False if that is not enough, as a run left the job or its interval shrank."""
        order, seen, longest_us = cached.order, cached.activity.seen, cached.activity.longest_us
        if order is None or not order.items():
            return False  # only others mentioned the job
        for run_id, interval_before in cached.before.items():
            old, run = cached.silent.pop(run_id, interval_before), self._run_of(job, run_id)
            if old is not None:
                if run is None or run.seen.union(old) != run.seen:
                    return False
                order.remove(_key(run_id, old))
            if run is not None:
                order.add(_key(run_id, run.seen))
                seen = seen.union(run.seen)
                longest_us = max(longest_us, run.seen.last_us - run.seen.first_us)
                if not run.has_events:
                    cached.silent[run_id] = run.seen
        if (declared := self._graph.jobs[job].declared_over) is not None:
            seen = seen.union(declared)
        runs = order.items()
        cached.with_parent = self._newest(job, cached, runs, cached.with_parent, lambda run: run.parent is not None)
        cached.ended = self._newest(job, cached, runs, cached.ended, lambda run: run.ended_us is not None)
        cached.before, cached.is_touched = {}, False
        parent = None if cached.with_parent is None else self._parent(cached.with_parent[1])
        ended = None if cached.ended is None else cached.ended[1]
        cached.activity = Activity(tuple([run_id for _, run_id in runs]), parent, ended, seen, longest_us)
        return True

    def _newest(
        self,
        job: JobId,
        cached: _CachedActivity,
        order: Sequence[_Key],
        newest_before: _Key | None,
        predicate: Callable[[KnownRun], bool],
    ) -> _Key | None:
        """The newest run for which `is_so` holds; `known` was the newest before the runs changed."""
        is_doubtful = newest_before is not None and newest_before[1] in cached.before
        ids = (run_id for _, run_id in order) if is_doubtful else cached.before
        runs = (self._run_of(job, run_id) for run_id in ids)
        matching = (_key(run.run_id, run.seen) for run in runs if run is not None and predicate(run))
        if is_doubtful:
            return next(matching, None)
        return min([*matching, *([] if newest_before is None else [newest_before])], default=None)

    def _parent(self, run_id: str) -> ParentRun | None:
        run = self.reported_run(run_id)
        return None if run is None else run.parent

    def _run_of(self, job: JobId, run_id: str) -> KnownRun | None:
        """The run, if it belongs to the job."""
        run = self.reported_run(run_id)
        return run if run is not None and run.job == job else None


def _key(run_id: str, seen: Seen) -> _Key:
    return -seen.first_us, run_id


def _snapshot(run: Run | None) -> RunSnapshot:
    return (
        RunSnapshot(None, None)
        if run is None
        else RunSnapshot(run.of_job, None if run.times is None else run.times.seen)
    )
