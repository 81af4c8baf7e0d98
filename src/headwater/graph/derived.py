"""Edges from dataset to dataset where no known job carries the data.

Such edges come from a view that a dataset event derives, from a `lineage` facet about datasets that its job neither
reads nor writes, and from a `columnLineage` source that its job does not read. Where some job reads the one and writes
the other, that job's edges already show it.

Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Precedence rules": column lineage
describes edges between datasets, inputs and outputs those between datasets and the job
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headwater.errors import HeadwaterError
from headwater.graph.flow import DERIVATION, Derivation, Report, joined_reports
from headwater.graph.lineage import Graph
from headwater.graph.records import Edge, Job
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US

NONE: Mapping[DatasetId, "Derived"] = {}


class Derived(NamedTuple):
    """The evidence that a dataset is derived from another, and when it was reported; `runs` 0: only declared."""

    derivation: Derivation
    edge: Edge


def derived_from(graph: Graph, name: DatasetId) -> dict[DatasetId, Derived]:
    """The sources of the dataset that no job carries, by shown name; the dataset's own aliases are left out."""
    if not name.is_complete:
        return {}
    found: dict[DatasetId, list[Report]] = {}
    for report in graph.evidence_into(name):
        member, (_, digest), _ = report
        for source in {graph.shown(each) for each in graph.column_edges.sources(member, digest)}:
            found.setdefault(source, []).append(report)
    sources = {source for source in found if source.is_complete and source != name}
    if sources:
        sources -= {source for job in graph.writers(name) for source in graph.reads(job)}
    return {source: _derived(graph, name, found[source]) for source in sorted(sources)}


def _derived(graph: Graph, target: DatasetId, reports: Sequence[Report]) -> Derived:
    strongest = max(strength for _, (strength, _), _ in reports)
    return Derived(DERIVATION[strongest], joined_reports(graph, target, reports))


def may_be_derived(graph: Graph, target: DatasetId) -> bool:
    """Whether a facet about this exact name reports a source that no writing job reads."""
    dataset = graph.datasets.get(target)
    edges = graph.column_edges
    digests = [digest for _, digest in dataset.evidence] if dataset else []
    sources = {source for digest in digests for source in edges.sources(target, digest)}
    readers = [graph.jobs[job].reads for job in dataset.writers] if dataset else []
    left = {source for source in sources if not any(source in reads for reads in readers)}
    return bool(left) and not {graph.shown(each) for each in left} <= {
        graph.shown(target),
        *(graph.shown(name) for reads in readers for name in reads),
    }


def may_be_derived_until(graph: Graph, target: DatasetId) -> int:
    """The last time at which a facet may have reported a source that no writing job was known to read.

    Microseconds since 1970. 0: whenever a source was first reported, some job already read it and wrote the target,
    under these exact names. Assumes that runs belong to the jobs that they belong to now.
    """
    dataset = graph.datasets.get(target)
    if dataset is None:
        return 0
    until_us = 0
    jobs = [graph.jobs[job] for job in dataset.writers]
    for (_, digest), edge in dataset.evidence.items():
        for source in graph.column_edges.sources(target, digest):
            both = (
                max(job.reads[source].seen.first_us, _written_us(job, target)) for job in jobs if source in job.reads
            )
            since_us = min(both, default=AFTER_ALL_US)
            if source != target and since_us > edge.seen.first_us:
                until_us = max(until_us, since_us)
    return until_us


def _written_us(job: Job, target: DatasetId) -> int:
    return job.writes[target].seen.first_us if target in job.writes else AFTER_ALL_US


class Derivations:
    """All such edges of a graph, both ways: derived state, invalidated by name and recomputed on demand."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._sources: dict[DatasetId, Mapping[DatasetId, Derived]] = {}
        self._targets: dict[DatasetId, dict[DatasetId, None]] = {}
        self._invalid: dict[DatasetId, None] = {}
        self._former_candidates: dict[DatasetId, int] = {}
        """By dataset, the time until which it may have had such edges; only those that are not candidates now."""
        self.candidate_changes = 0
        """Goes up with each change of the current or former candidates."""

    def __bool__(self) -> bool:
        """Whether there are any such edges."""
        return bool(self._sources)

    def invalidate(self, datasets: Iterable[DatasetId], jobs: Iterable[JobId]) -> None:
        """Invalidate these datasets, whose edges or shown names may have changed, and what these jobs write."""
        candidates = self._graph.derivation_candidates
        if not candidates and not self._sources:
            return
        about = tuple(datasets)
        for name in about:
            self._invalid.update(dict.fromkeys(self._targets.get(name, ())))
        members = self._graph.members_of_all(about)
        known = (self._graph.jobs[job] for job in jobs if job in self._graph.jobs)
        written = (name for job in known for name in job.writes)
        perhaps = (name for each in (members, written) for name in each)
        self._invalid.update((name, None) for name in perhaps if name in candidates or name in self._sources)

    def find_candidates(self) -> Iterator[None]:
        """Find new candidates among the facets read since the last call; one dataset a step."""
        for name in self._graph.newly_read():
            self.candidate_changes += 1
            if name not in self._graph.derivation_candidates and may_be_derived(self._graph, name):
                self._graph.derivation_candidates.add(name)
                self._invalid[name] = None
            if until_us := 0 if name in self._graph.derivation_candidates else may_be_derived_until(self._graph, name):
                self._former_candidates[name] = until_us
            else:
                self._former_candidates.pop(name, None)
            yield

    def recheck(self, names: Iterable[DatasetId]) -> None:
        """Recheck datasets: their writing jobs may read less now, or an alias may have been split off."""
        for name in names:
            dataset = self._graph.datasets.get(name)
            if dataset is not None and dataset.evidence:
                self._graph.recheck(name)

    def candidates_at(self, time_us: int) -> Iterator[DatasetId]:
        """The candidates as of that time, assuming that runs belonged to the jobs that they belong to now."""
        yield from self._graph.derivation_candidates
        yield from (name for name, until_us in self._former_candidates.items() if until_us > time_us)

    def add_candidates(self, names: Iterable[DatasetId]) -> None:
        """Add candidates that another graph found in the facets that both share."""
        new = set(names) - self._graph.derivation_candidates
        self._graph.derivation_candidates |= new
        self._invalid.update(dict.fromkeys(new))

    def invalidate_all(self) -> None:
        """Invalidate everything: aliases may have merged or split, or a run may have moved to another job."""
        self._invalid.update(dict.fromkeys(self._graph.derivation_candidates))
        self._invalid.update(dict.fromkeys(self._sources))

    def catch_up(self) -> Iterator[None]:
        """Recompute what was invalidated, one dataset a step."""
        yield from self.find_candidates()
        while self._invalid:
            name = self._invalid.popitem()[0]
            try:
                for each in {name, self._graph.shown(name)}:
                    is_shown = self._graph.shown(each) == each
                    self._change(each, derived_from(self._graph, each) if is_shown else NONE)
            except HeadwaterError:  # the disk does not answer: the next caller retries
                self._invalid[name] = None
                raise
            yield

    def _change(self, name: DatasetId, sources: Mapping[DatasetId, Derived]) -> None:
        for source in self._sources.pop(name, ()):
            self._targets[source].pop(name, None)
        for source in sources:
            self._targets.setdefault(source, {})[name] = None
        if sources:
            self._sources[name] = sources

    def reported(self, source: DatasetId) -> Seen | None:
        """When datasets were reported to be derived from this one, by its shown name; None: never."""
        return Seen.over(self._sources[target][source].edge.seen for target in self._targets.get(source, ()))

    def named(self) -> Iterator[DatasetId]:
        """The datasets, by shown name, from which others are derived without a job."""
        return (source for source, targets in self._targets.items() if targets)

    def sources(self, name: DatasetId) -> Mapping[DatasetId, Derived]:
        """The sources of the dataset, by its shown name; deleted sources are left out."""
        sources = self._sources.get(name, NONE)
        if not sources or self._graph.hides(name):
            return NONE
        return {source: derived for source, derived in sources.items() if not self._graph.hides(source)}

    def neighbours(self, name: DatasetId) -> Iterator[DatasetId]:
        """Its sources, then its targets."""
        yield from self.sources(name)
        yield from self.targets(name)

    def targets(self, name: DatasetId) -> Iterator[DatasetId]:
        """The datasets derived from the dataset, by its shown name; deleted targets are left out."""
        if not self._graph.hides(name):
            yield from (target for target in self._targets.get(name, ()) if not self._graph.hides(target))
