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
from headwater.service.knowledge.activity import Activity, KnownRun, activity_in, as_meant, known_runs, told_run
from headwater.service.tallies.ordered import Ordered

_Key = tuple[int, str]
"""Sorts runs newest first: minus the time of the first event, then the id."""


class RunSnapshot(NamedTuple):
    """A run's own statements before an event: its job, and its first and last event; None if it had made none."""

    of_job: RunOfJob | None
    seen: Seen | None


@dataclass(slots=True)
class _Kept:
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
        self._kept: dict[JobId, _Kept] = {}
        self._silent: dict[str, KnownRun] = {}
        """Cached runs without events of their own; thousands of others may name each."""

    def run(self, run_id: str) -> KnownRun | None:
        """The run, or None if no event names it."""
        run = self.told_run(run_id)
        return None if run is None else as_meant(self._graph, run)

    def told_run(self, run_id: str) -> KnownRun | None:
        """The run, with parent and root as its own events name them; None if no event names it."""
        run = self._silent.get(run_id)
        if run is None and (run := self._known_run(run_id)) is not None and not run.has_events:
            self._silent[run_id] = run
        return run

    def _known_run(self, run_id: str) -> KnownRun | None:
        return told_run(self._graph, run_id)

    def snapshot(self, run_ids: Iterable[str]) -> Mapping[str, RunSnapshot]:
        """Snapshots of runs, taken before the graph learns more about them; to be passed to `touch`."""
        return {run_id: _snapshot(self._graph.runs.get(run_id)) for run_id in run_ids}

    def touch(self, jobs: Iterable[JobId], before: Mapping[str, RunSnapshot]) -> None:
        """Mark jobs, and the runs that changed, given as snapshots from before."""
        silent = {*self._silent_wholes(before)}
        for run_id in chain(before, silent):
            self._silent.pop(run_id, None)
        touched = [(job, kept) for job in jobs if (kept := self._kept.get(job)) is not None]
        for job, kept in touched:
            if kept.order is None:
                del self._kept[job]
                continue
            kept.is_touched = True
            for run_id, was in before.items():
                was_of_it = was.of_job is not None and was.of_job.job == job
                kept.before.setdefault(run_id, was.seen if was_of_it else None)
            for run_id in silent:
                kept.before.setdefault(run_id, None)

    def _silent_wholes(self, before: Mapping[str, RunSnapshot]) -> Iterable[str]:
        """The parents and roots, now or before, of these runs that have no events of their own."""
        for run_id, (of_job, _) in before.items():
            now = self._graph.runs[run_id].of_job
            for whole in (part for told in (of_job, now) if told is not None for part in told.parts_of):
                if _snapshot(self._graph.runs.get(whole.run_id)).seen is None:
                    yield whole.run_id

    def of(self, job: JobId) -> Activity:
        """The activity of a known job."""
        kept = self._kept.get(job)
        if kept is None or (kept.is_touched and not self._catch_up(job, kept)):
            kept = self._kept[job] = self._looked_at(job)
        return kept.activity

    def _told(self, job: JobId) -> Activity | None:
        """Hook: the activity of a job, if it is known without reading its runs."""
        return None

    def _looked_at(self, job: JobId) -> _Kept:
        if (done := self._told(job)) is not None:
            return _Kept(done)
        runs = known_runs(self._graph, job)
        order: Ordered[_Key] = Ordered()
        for run in runs:
            order.add(_key(run.run_id, run.seen))
        return _Kept(
            activity_in(self._graph, job, runs),
            order,
            {run.run_id: run.seen for run in runs if not run.has_events},
            next((_key(run.run_id, run.seen) for run in runs if run.parent is not None), None),
            next((_key(run.run_id, run.seen) for run in runs if run.ended_us is not None), None),
        )

    def _catch_up(self, job: JobId, kept: _Kept) -> bool:
        """Read the runs that changed; False if that is not enough, as a run left the job or its interval shrank."""
        order, seen, longest_us = kept.order, kept.activity.seen, kept.activity.longest_us
        if order is None or not order.items():
            return False  # only others mentioned the job
        for run_id, spoke in kept.before.items():
            old, run = kept.silent.pop(run_id, spoke), self._run_of(job, run_id)
            if old is not None:
                if run is None or run.seen.union(old) != run.seen:
                    return False
                order.remove(_key(run_id, old))
            if run is not None:
                order.add(_key(run_id, run.seen))
                seen = seen.union(run.seen)
                longest_us = max(longest_us, run.seen.last_us - run.seen.first_us)
                if not run.has_events:
                    kept.silent[run_id] = run.seen
        if (declared := self._graph.jobs[job].declared_over) is not None:
            seen = seen.union(declared)
        runs = order.items()
        kept.with_parent = self._newest(job, kept, runs, kept.with_parent, lambda run: run.parent is not None)
        kept.ended = self._newest(job, kept, runs, kept.ended, lambda run: run.ended_us is not None)
        kept.before, kept.is_touched = {}, False
        parent = None if kept.with_parent is None else self._parent(kept.with_parent[1])
        ended = None if kept.ended is None else kept.ended[1]
        kept.activity = Activity(tuple([run_id for _, run_id in runs]), parent, ended, seen, longest_us)
        return True

    def _newest(
        self, job: JobId, kept: _Kept, order: Sequence[_Key], known: _Key | None, is_so: Callable[[KnownRun], bool]
    ) -> _Key | None:
        """The newest run for which `is_so` holds; `known` was the newest before the runs changed."""
        is_doubtful = known is not None and known[1] in kept.before
        ids = (run_id for _, run_id in order) if is_doubtful else kept.before
        runs = (self._run_of(job, run_id) for run_id in ids)
        found = (_key(run.run_id, run.seen) for run in runs if run is not None and is_so(run))
        if is_doubtful:
            return next(found, None)
        return min([*found, *([] if known is None else [known])], default=None)

    def _parent(self, run_id: str) -> ParentRun | None:
        run = self.told_run(run_id)
        return None if run is None else run.parent

    def _run_of(self, job: JobId, run_id: str) -> KnownRun | None:
        """The run, if it belongs to the job."""
        run = self.told_run(run_id)
        return run if run is not None and run.job == job else None


def _key(run_id: str, seen: Seen) -> _Key:
    return -seen.first_us, run_id


def _snapshot(run: Run | None) -> RunSnapshot:
    return (
        RunSnapshot(None, None)
        if run is None
        else RunSnapshot(run.of_job, None if run.times is None else run.times.seen)
    )
