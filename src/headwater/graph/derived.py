"""Data that goes from dataset to dataset while no job is known to take it there.

That is a view that a dataset event derives, what a `lineage` facet says of datasets that its job neither reads nor
writes, and a source that `columnLineage` names and its job does not read. Where some job reads the one and writes the
other, the edges of that job say it.

Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Precedence rules": column lineage
tells of edges between datasets, inputs and outputs of those between datasets and the job
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from headwater.errors import HeadwaterError
from headwater.graph.flow import DERIVATION, Derivation
from headwater.graph.lineage import Graph
from headwater.graph.records import Edge, Job
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US

NONE: Mapping[DatasetId, "Derived"] = {}


class Derived(NamedTuple):
    """How it is known that a dataset is made from another, and when that was told; `runs` 0: only declared."""

    derivation: Derivation
    edge: Edge


def derived_from(graph: Graph, name: DatasetId) -> dict[DatasetId, Derived]:
    """What the dataset is made from without a job, by shown names; other names of its own are left out."""
    if not name.is_complete:
        return {}
    found: dict[DatasetId, tuple[int, Edge]] = {}
    for member, (strength, digest), edge in graph.evidence_into(name):
        for source in {graph.shown(each) for each in graph.column_edges.sources(member, digest)}:
            best, known = found.get(source, (0, None))
            found[source] = max(best, strength), edge.joined(known)
    told = {source for source in found if source.is_complete and source != name}
    if told:
        told -= {source for job in graph.writers(name) for source in graph.reads(job)}
    return {source: Derived(DERIVATION[found[source][0]], found[source][1]) for source in sorted(told)}


def may_be_derived(graph: Graph, target: DatasetId) -> bool:
    """Whether a facet about the target, under this very name, tells of a source that no job which writes it reads."""
    dataset = graph.datasets.get(target)
    edges = graph.column_edges
    told = {source for _, digest in dataset.evidence for source in edges.sources(target, digest)} if dataset else set()
    readers = [graph.jobs[job].reads for job in dataset.writers] if dataset else []
    left = {source for source in told if not any(source in reads for reads in readers)}
    return bool(left) and not {graph.shown(each) for each in left} <= {
        graph.shown(target),
        *(graph.shown(name) for reads in readers for name in reads),
    }


def may_be_derived_until(graph: Graph, target: DatasetId) -> int:
    """Until when a facet told of a source that no job which writes the target was known to read, or may not have been.

    Microseconds since 1970; 0: a job read each source and wrote the target, under these very names, when that was first
    told. That is as of which jobs runs belong to now.
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
    """These edges of a whole graph, both ways; who may have others now is looked at again when somebody asks."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._sources: dict[DatasetId, Mapping[DatasetId, Derived]] = {}
        self._targets: dict[DatasetId, dict[DatasetId, None]] = {}
        self._touched: dict[DatasetId, None] = {}
        self._once: dict[DatasetId, int] = {}
        """Who may have had such edges, and until when, of those that are not told of directly now."""
        self.heard = 0
        """How often more was heard of who may have such edges, or may have had them."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._sources)

    def touch(self, datasets: Iterable[DatasetId], jobs: Iterable[JobId]) -> None:
        """These may be told of otherwise or be shown by another name; these jobs may read and write something else."""
        candidates = self._graph.told_directly
        if not candidates and not self._sources:
            return
        about = tuple(datasets)
        for name in about:
            self._touched.update(dict.fromkeys(self._targets.get(name, ())))
        members = self._graph.members_of_all(about)
        known = (self._graph.jobs[job] for job in jobs if job in self._graph.jobs)
        written = (name for job in known for name in job.writes)
        perhaps = (name for each in (members, written) for name in each)
        self._touched.update((name, None) for name in perhaps if name in candidates or name in self._sources)

    def look_at_read(self) -> Iterator[None]:
        """Find who may have such edges by facets that were read since, one with each step."""
        for name in self._graph.newly_read():
            self.heard += 1
            if name not in self._graph.told_directly and may_be_derived(self._graph, name):
                self._graph.told_directly.add(name)
                self._touched[name] = None
            if until_us := 0 if name in self._graph.told_directly else may_be_derived_until(self._graph, name):
                self._once[name] = until_us
            else:
                self._once.pop(name, None)
            yield

    def look_again_at(self, names: Iterable[DatasetId]) -> None:
        """The jobs that write these may read less by now, or names that were one are one no longer."""
        for name in names:
            dataset = self._graph.datasets.get(name)
            if dataset is not None and dataset.evidence:
                self._graph.look_again_at(name)

    def told_directly_by(self, time_us: int) -> Iterator[DatasetId]:
        """Who may have had such edges at that time, as far as runs belonged to the jobs that they belong to now."""
        yield from self._graph.told_directly
        yield from (name for name, until_us in self._once.items() if until_us > time_us)

    def touch_also(self, names: Iterable[DatasetId]) -> None:
        """These may be told of directly by facets that this graph shares with another one, which looked at them."""
        new = set(names) - self._graph.told_directly
        self._graph.told_directly |= new
        self._touched.update(dict.fromkeys(new))

    def touch_all(self) -> None:
        """Other names may be one now, or a run may be another job's."""
        self._touched.update(dict.fromkeys(self._graph.told_directly))
        self._touched.update(dict.fromkeys(self._sources))

    def catch_up(self) -> Iterator[None]:
        """Look at who was touched, one with each step."""
        yield from self.look_at_read()
        while self._touched:
            name = self._touched.popitem()[0]
            try:
                for each in {name, self._graph.shown(name)}:
                    is_shown = self._graph.shown(each) == each
                    self._change(each, derived_from(self._graph, each) if is_shown else NONE)
            except HeadwaterError:  # the disk does not answer: whoever asks next tries again
                self._touched[name] = None
                raise
            yield

    def _change(self, name: DatasetId, sources: Mapping[DatasetId, Derived]) -> None:
        for source in self._sources.pop(name, ()):
            self._targets[source].pop(name, None)
        for source in sources:
            self._targets.setdefault(source, {})[name] = None
        if sources:
            self._sources[name] = sources

    def told_of(self, source: DatasetId) -> Seen | None:
        """When the dataset, by its shown name, was told to be one that others are made from; None: never."""
        return Seen.over(self._sources[target][source].edge.seen for target in self._targets.get(source, ()))

    def named(self) -> Iterator[DatasetId]:
        """The datasets, by shown names, that others are told to be made from."""
        return (source for source, targets in self._targets.items() if targets)

    def sources(self, name: DatasetId) -> Mapping[DatasetId, Derived]:
        """What the dataset, by its shown name, is made from; deleted ones are left out."""
        sources = self._sources.get(name, NONE)
        if not sources or self._graph.hides(name):
            return NONE
        return {source: told for source, told in sources.items() if not self._graph.hides(source)}

    def beside(self, name: DatasetId) -> Iterator[DatasetId]:
        """What it is made from, and what is made from it."""
        yield from self.sources(name)
        yield from self.targets(name)

    def targets(self, name: DatasetId) -> Iterator[DatasetId]:
        """What is made from the dataset, by its shown name; deleted ones are left out."""
        if not self._graph.hides(name):
            yield from (target for target in self._targets.get(name, ()) if not self._graph.hides(target))
