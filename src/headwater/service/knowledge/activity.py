"""Runs, known by their own events or only because other runs name them as their parent or root."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import attrgetter
from typing import Final, NamedTuple, overload

from headwater.graph.lineage import Graph
from headwater.graph.mending import End
from headwater.graph.records import Job, Run
from headwater.model.facts import ParentRun, RunOfJob, RunState, RunTimes
from headwater.model.merging import Seen
from headwater.model.names import JobId

STATE_OF_EVENT: Final[Mapping[str, RunState]] = {
    "OTHER": "NEW",
    "START": "RUNNING",
    "RUNNING": "RUNNING",
    "COMPLETE": "COMPLETED",
    "FAIL": "FAILED",
    "ABORT": "ABORTED",
}
_ENDED: Final = frozenset({"COMPLETED", "FAILED", "ABORTED"})
_STAMP: Final = attrgetter("stamp")


class KnownRun(NamedTuple):
    """A run; times are event times in microseconds since 1970."""

    run_id: str
    job: JobId
    parent: ParentRun | None
    root: ParentRun | None
    seen: Seen
    state: RunState
    started_us: int | None
    """When it was first running, at the latest when it ended; None if no event says that it ran."""
    ended_us: int | None
    has_events: bool
    """False if it has no events of its own, and is only named by other runs as their parent or root."""

    def with_seen(self, seen: Seen) -> "KnownRun":
        """The same run with other times, for a run without events of its own."""
        return self._replace(seen=seen, started_us=seen.first_us)


class Activity(NamedTuple):
    """What a job did: its runs, newest first, and the parent named by the newest run that names one."""

    runs: tuple[str, ...]
    parent: ParentRun | None
    """As that run names it, which may differ from the parent's own events; None if no run names one."""
    ended_run: str | None
    """The newest run that has ended."""
    seen: Seen
    """The first and last event of its runs, its declarations or its children."""
    longest_us: int = 0
    """The longest interval from a run's first event to its last."""

    def begun_by(self, until_us: int, first_us: Callable[[str], int]) -> Sequence[str]:
        """Its runs that began by `until_us`, newest first; `first_us` returns when a run began."""
        return self.runs[self._place_of(until_us, first_us) :]

    def begun_between(self, after_us: int, until_us: int, first_us: Callable[[str], int]) -> Sequence[str]:
        """Its runs that began after `after_us` and by `until_us`, newest first, without a copy."""
        return _Part(self.runs, self._place_of(until_us, first_us), self._place_of(after_us, first_us))

    def _place_of(self, us: int, first_us: Callable[[str], int]) -> int:
        return bisect_left(self.runs, -us, key=lambda run_id: -first_us(run_id))


class _Part(Sequence[str]):
    """The items of a sequence from a place on, up to another, exclusive."""

    def __init__(self, whole: Sequence[str], start: int, stop: int) -> None:
        self._whole, self._places = whole, range(start, max(start, stop))

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        chosen = self._places[place]
        return self._whole[chosen] if isinstance(chosen, int) else [self._whole[each] for each in chosen]


def known_run(graph: Graph, run_id: str) -> KnownRun | None:
    """The run, or None if no event names it."""
    run = reported_run(graph, run_id)
    return None if run is None else with_resolved_parents(graph, run)


def with_resolved_parents(graph: Graph, run: KnownRun) -> KnownRun:
    """The run with its parent and root resolved by the graph; a run that names itself as its parent has none."""
    if run.parent is None and run.root is None:
        return run
    parent = None if run.parent is None or run.parent.run_id == run.run_id else run.parent
    return run._replace(parent=graph.meant(parent), root=graph.meant(run.root))


def reported_run(graph: Graph, run_id: str) -> KnownRun | None:
    """The run, with parent and root as its own events name them; None if no event names it."""
    run = graph.runs.get(run_id)
    if run is not None and run.times is not None and run.of_job is not None and (end := graph.end_of(run)) is not None:
        return _from_own_events(run.times, run.of_job, end)
    claims = graph.child_runs.get(run_id, {}).values()
    return named_by(run_id, [graph.runs[child] for children in claims for child in children])


def named_by(run_id: str, children: list[Run]) -> KnownRun | None:
    """A run without events of its own, as its children name it; the newest claim wins.

    Called with thousands of children, so objects are made only for the newest.
    """
    times = [child.times.seen for child in children if child.times]
    claims = [child.of_job for child in children if child.of_job]
    if not claims or not times:
        return None
    newest = max(claims, key=_STAMP)
    seen = Seen(min(each.first_us for each in times), max(each.last_us for each in times))
    job, root = _claimed(run_id, newest)
    return KnownRun(run_id, job, None, root, seen, "RUNNING", seen.first_us, None, has_events=False)


def _from_own_events(times: RunTimes, of_job: RunOfJob, end: End) -> KnownRun:
    state = STATE_OF_EVENT[end.event_type]
    ended_us = end.time_us if state in _ENDED else None
    started = (us for us in (times.started_us, ended_us) if us is not None)
    return KnownRun(
        times.run_id,
        of_job.job,
        of_job.parent,
        of_job.root,
        times.seen,
        state,
        None if times.started_us is None else min(started),
        ended_us,
        has_events=True,
    )


def _claimed(run_id: str, child: RunOfJob) -> tuple[JobId, ParentRun | None]:
    """The job and root that a run states for its parent or root; a parent has the root of its children."""
    claim = next(each for each in child.parts_of if each.run_id == run_id)
    return claim.job, None if child.root is None or child.root.run_id == run_id else child.root


def known_runs(graph: Graph, job_id: JobId) -> list[KnownRun]:
    """The runs of a job that the graph knows, newest first."""
    job = graph.jobs[job_id]
    runs = [
        run for run_id in job.runs | job.named if (run := reported_run(graph, run_id)) is not None and run.job == job_id
    ]
    return sorted(runs, key=lambda run: (-run.seen.first_us, run.run_id))


def activity(graph: Graph, job_id: JobId) -> Activity:
    """The activity of a known job."""
    return activity_in(graph, job_id, known_runs(graph, job_id))


def parent_in(graph: Graph, of_job: Activity) -> JobId | None:
    """The parent job, by the job's activity."""
    parent = graph.meant(of_job.parent)
    return None if parent is None else parent.job


def activity_in(graph: Graph, job_id: JobId, runs: Sequence[KnownRun]) -> Activity:
    """The activity of a known job, from all its runs, newest first."""
    job = graph.jobs[job_id]
    times = [run.seen for run in runs]
    if job.declared_over is not None:
        times.append(job.declared_over)
    if not times:
        times += [*_times_of(graph, job.children), *_report_times(job)]
    return Activity(
        tuple(run.run_id for run in runs),
        next((run.parent for run in runs if run.parent is not None), None),
        next((run.run_id for run in runs if run.ended_us is not None), None),
        reduce(Seen.union, times),
        longest_us(run.seen for run in runs),
    )


def longest_us(times: Iterable[Seen]) -> int:
    """The length of the longest interval; 0 if there are none."""
    return max((seen.last_us - seen.first_us for seen in times), default=0)


def _report_times(job: Job) -> Iterator[Seen]:
    """The times at which others mention a job that has no events of its own."""
    for tellers in (*job.reported.values(), *job.feeds.values(), *job.fed_by.values()):
        yield from tellers.values()


def _times_of(graph: Graph, run_ids: Iterable[str]) -> list[Seen]:
    return [times.seen for run_id in run_ids if (times := graph.runs[run_id].times) is not None]
