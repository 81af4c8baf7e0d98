"""Facets of jobs and datasets as of a time, where newer ones have replaced them; read on demand.

Runs are read from the latest one back, until every wanted facet is found.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter
from typing import Final

from headwater.graph.past.cut import CutGraph
from headwater.model.events import RunEvent, Stamp
from headwater.model.extract import job_facets
from headwater.model.facts import JobFacet, Stamped
from headwater.model.names import DatasetId, JobId
from headwater.store.entries import LoggedEvent, as_today
from headwater.store.facet_reader import ReportedJobFacet
from headwater.store.until import ReaderUntil

_RUNS_AT_ONCE: Final = 16
_Found = dict[str, Stamped]
"""The newest value, by facet name."""
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
"""A facet's name that JSON can write in only one way, apart from numeric escapes."""


class OlderFacets:
    """Implements `headwater.graph.past.cut_facets.Older` for the runs of a graph, except those folded again."""

    def __init__(self, store: ReaderUntil) -> None:
        self._store = store
        self.graph: CutGraph | None = None
        """The graph to read for; set after construction."""

    def job_facets(self, job: JobId, names: set[str]) -> Mapping[str, Stamped]:
        """The newest facets of a job with these names; those not reported by then are left out."""
        found: _Found = {}
        doubtful: set[str] = set()
        for name, reports in groupby(self._store.job_facets(job, sorted(names)), key=attrgetter("name")):
            if (newest := _newest_by(self._store.until_us, [*reports])) is None:
                doubtful.add(name)
            else:
                found[name] = newest
        for last_us, run_id in self._newest_first(self._store.runs_that_named(job)) if doubtful else ():
            if not _open(doubtful, found, last_us):
                break
            self._job_facets_of_run(job, run_id, doubtful, found)
        return found

    def _job_facets_of_run(self, job: JobId, run_id: str, names: set[str], found: _Found) -> None:
        for _ in newest_job_facets(self._store.newest_first(run_id), job, names, found):
            pass

    def dataset_facets(self, name: DatasetId, names: set[str]) -> Mapping[str, Stamped]:
        """The newest facets of a dataset that runs reported under this very name."""
        found: _Found = {}
        runs = self._last_first(name)
        while some := [*islice(runs, _RUNS_AT_ONCE)]:
            if not any(each not in found or found[each].stamp.time_us <= some[0][0] for each in names):
                break
            for facet, stamped in self._store.newest_facets([run_id for _, run_id in some], name).items():
                found[facet] = max(found.get(facet, stamped), stamped)
        return {facet: stamped for facet, stamped in found.items() if facet in names}

    def _last_first(self, name: DatasetId) -> Iterator[tuple[int, str]]:
        """The runs that read or wrote a dataset under this very name, as (last event's time, run id), latest first."""
        graph = self.graph
        if graph is None or graph.reporting_runs is None:
            return
        ends = ("input", name), ("output", name)
        for last_event in merge(*map(graph.reporting_runs.back, graph.jobs_naming(name)), reverse=True):
            if not graph.now.runs[last_event[1]].observed.keys().isdisjoint(ends):
                yield last_event

    def _newest_first(self, run_ids: Iterable[str]) -> list[tuple[int, str]]:
        """The runs as (last event's time, run id), latest first."""
        known = self.graph.runs if self.graph is not None else {}
        runs = ((known[run_id].times, run_id) for run_id in run_ids if run_id in known)
        not_refolded = (
            (times, run_id) for times, run_id in runs if times is not None and run_id not in self._store.runs
        )
        return sorted(((times.seen.last_us, run_id) for times, run_id in not_refolded), reverse=True)


def _newest_by(until_us: int, reports: Sequence[ReportedJobFacet]) -> Stamped | None:
    """The value of a facet as of then, out of all its values; None if their first and last times leave it open.

    A value that was repeated since may have been reported last by then at any time from its first on.
    """
    repeated = [each for each in reports if each.last.time_us > until_us]
    ended = (Stamped(each.last, False, each.content) for each in reports if each.last.time_us <= until_us)
    last = max(ended, default=None)
    if not repeated:
        return last
    if len(repeated) > 1 or (last is not None and last.stamp.time_us >= repeated[0].first_us):
        return None
    return Stamped(Stamp(repeated[0].first_us, b""), False, repeated[0].content)


def newest_job_facets(
    newest_first: Iterable[LoggedEvent], job: JobId, names: set[str], found: _Found
) -> Iterator[None]:
    """Add the newest facets of a job with these names to `found`, with a step for each event.

    Stops as soon as older events cannot change the result.
    """
    for event in newest_first:
        undecided = _open(names, found, event.event_us)
        if not undecided:
            return
        for fact in _job_facets(event) if _may_hold(event.raw, undecided) else ():
            if fact.job == job and fact.name in undecided:
                found[fact.name] = max(found.get(fact.name, fact.stamped), fact.stamped)
        yield


def _job_facets(logged: LoggedEvent) -> Iterator[JobFacet]:
    """The job facets in a run event."""
    event = as_today(logged.event_type, logged.raw)
    if isinstance(event, RunEvent):
        yield from job_facets(event)


def _open(names: Iterable[str], found: Mapping[str, Stamped], time_us: int) -> set[str]:
    """The facet names whose value an event of that time or earlier may still decide."""
    return {name for name in names if name not in found or found[name].stamp.time_us <= time_us}


def _may_hold(raw: bytes, names: Iterable[str]) -> bool:
    """Whether an event may hold a facet with one of these names; a text search takes a hundredth of parsing."""
    return b"\\u" in raw or any(not _PLAIN.fullmatch(name) or name.encode() in raw for name in names)
