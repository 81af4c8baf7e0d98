"""Records of runs, jobs, datasets and edges."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import reduce
from sys import intern
from typing import NamedTuple

from headwater.graph.fold import FactKey
from headwater.model.events import Direction, Stamp
from headwater.model.facts import STRENGTH, Declaration, FlowDirection, RunFacet, RunOfJob, RunTimes, Stamped
from headwater.model.flow_facts import Flow, Maker
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId

EvidenceKey = tuple[int, bytes]
"""The strength of the evidence, and the digest of the facet."""

Evidence = tuple[tuple[EvidenceKey, Seen], ...]
"""The facets in which a run reports one dataset's columns, each once, sorted; mostly one. A tuple, since there are many
runs."""


RunEnd = tuple[Direction, DatasetId]
"""A dataset on the input or output side of a run."""


Reporter = str | FactKey
"""The reporter of a flow: a run by its id, or a declaration by its key."""


@dataclass(slots=True)
class Edge:
    """A job reads or writes a dataset; `runs` 0 means it was only declared."""

    seen: Seen
    runs: int

    def count(self, seen: Seen, *, is_new_run: bool) -> None:
        """Widen the times, and count the run unless it was counted before."""
        self.seen, self.runs = self.seen.union(seen), self.runs + is_new_run

    def joined(self, other: "Edge | None") -> "Edge":
        """The sum of both edges: over both times, with the runs of both."""
        return self if other is None else Edge(self.seen.union(other.seen), self.runs + other.runs)


@dataclass(slots=True)
class Run:
    """The record of one run."""

    times: RunTimes | None = None
    of_job: RunOfJob | None = None
    observed: dict[RunEnd, Seen] = field(default_factory=dict)
    evidence: dict[DatasetId, Evidence] = field(default_factory=dict)
    extras: "RunExtras | None" = None
    """The rarer reports; None for the many runs without any."""

    @property
    def has_begun(self) -> bool:
        """Whether it reported more than its creation: a start, an end or an output."""
        if self.times is None:
            return False
        return self.times.state[2] != "OTHER" or any(direction == "output" for direction, _ in self.observed)

    def merge_times(self, reported: RunTimes) -> None:
        """Merge its times and state; equal values share one object, as everywhere in the records."""
        times = reported if self.times is None else self.times.merge(reported)
        rank, stamp, event_type = times.state
        if self.of_job is not None and self.of_job.stamp == stamp:
            stamp = self.of_job.stamp
        first_us, last_us = (stamp.time_us if each == stamp.time_us else each for each in times.seen)
        started_us = first_us if times.started_us == first_us else times.started_us
        self.times = RunTimes(times.run_id, Seen(first_us, last_us), (rank, stamp, intern(event_type)), started_us)

    def interned_times(self, seen: Seen) -> Seen:
        """Interned: the run's own object for these times, if it has one, mostly its own times or its end."""
        if self.times is None:
            return seen
        own = self.times.seen
        known = (own, next(reversed(self.observed.values()), own), Seen(own.last_us, own.last_us))
        return next((each for each in known if each == seen), seen)

    def interned_stamp(self, stamp: Stamp) -> Stamp:
        """Interned: the run's own object for this stamp, if its state has the same."""
        return self.times.state[1] if self.times is not None and self.times.state[1] == stamp else stamp

    def copy(self) -> "Run":
        """A copy that later facts do not change."""
        return Run(self.times, self.of_job, {**self.observed}, {**self.evidence}, self.extras and self.extras.copy())


@dataclass(slots=True)
class RunExtras:
    """The rarer reports of a run: errors, tests, control flow, flows between jobs, own uses and renames."""

    failed: Seen | None = None
    """When it reported FAIL, which it may take back later: its state is in its times."""
    has_tested: bool = False
    """Whether it ever reported tests."""
    facets: dict[str, RunFacet] = field(default_factory=dict)
    """By name, its facets that report problems."""
    control: dict[tuple[FlowDirection, JobId, str], Seen] = field(default_factory=dict)
    """By direction, named job, and type of the dependency."""
    flows: dict[Flow, Seen] = field(default_factory=dict)
    uses: dict[bytes, Seen] = field(default_factory=dict)
    """By digest, the facets that report what jobs use themselves."""
    renames: dict[tuple[DatasetId, DatasetId], Seen] = field(default_factory=dict)
    """By new and former name."""

    def copy(self) -> "RunExtras":
        """A copy that later facts do not change."""
        facets, control, flows, uses = {**self.facets}, {**self.control}, {**self.flows}, {**self.uses}
        return RunExtras(self.failed, self.has_tested, facets, control, flows, uses, {**self.renames})


@dataclass(slots=True)
class Job:
    """The record of one job."""

    runs: set[str] = field(default_factory=set)
    facets: MutableMapping[str, Stamped] = field(default_factory=dict)
    """By facet, its newest content."""
    unchanged_since: dict[str, int] = field(default_factory=dict)
    """By facet, since when every report had the same content, in microseconds since 1970.

    No entry: its newest content was reported once.
    """
    reads: dict[DatasetId, Edge] = field(default_factory=dict)
    writes: dict[DatasetId, Edge] = field(default_factory=dict)
    uses: MutableMapping[bytes, Edge] = field(default_factory=dict)
    """By digest, the facets in which its runs report what jobs use themselves."""
    declaration: Declaration | None = None
    declared_over: Seen | None = None
    """The first and last time it was declared; `declaration` is the last."""
    children: set[str] = field(default_factory=set)
    """Runs whose parent facet names this job, as parent or root."""
    named: set[str] = field(default_factory=set)
    """The runs of this job that `children` name; they may have no events."""
    reported: dict[tuple[Direction, DatasetId], dict[Reporter, Seen]] = field(default_factory=dict)
    """The reads and writes of this job that others report."""
    reported_without_run: dict[tuple[Direction, DatasetId], set[Reporter]] = field(default_factory=dict)
    """Those of `reported` that do not name a run of the job."""
    feeds: dict[JobId, dict[Reporter, Seen]] = field(default_factory=dict)
    """Jobs that take data from this one without a dataset between; `fed_by` is the reverse."""
    fed_by: dict[JobId, dict[Reporter, Seen]] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """False for a leftover job: the only run that named it turned out to belong to another."""
        return self.is_known_otherwise or bool(self.children)

    @property
    def is_known_otherwise(self) -> bool:
        """Whether more is known of it than other runs' parent or root facets."""
        return bool(self.runs or self.declaration or self.reported or self.feeds or self.fed_by)

    @property
    def is_reported_by_others(self) -> bool:
        """Whether it was ever declared, or anyone but its own runs and their children reports it."""
        return bool(self.declared_over or self.declaration or self.reported or self.feeds or self.fed_by)


class DeclaredFacets(NamedTuple):
    """A dataset's facets from one declaration."""

    stamp: Stamp
    facets: Mapping[str, Stamped]
    silent: frozenset[bytes] = frozenset()
    """The lineage facets among them that name no sources, including tombstones."""
    makers: frozenset[Maker] = frozenset()
    """The jobs that the declaration names as producers of the dataset."""
    sides: frozenset[Direction] = frozenset()
    """Whether the dataset is an input or output of the declared job."""

    @property
    def evidence(self) -> EvidenceKey | None:
        """The strongest facet that reports columns."""
        for facet, strength in STRENGTH.items():
            if facet in self.facets and self.facets[facet].content not in self.silent:
                return strength, self.facets[facet].content
        return None

    def merge(self, other: "DeclaredFacets") -> "DeclaredFacets":
        """The later of the two; one declaration may name a dataset twice, and then both count."""
        if self.stamp != other.stamp:
            return max(self, other, key=lambda declared: declared.stamp)
        both = {name: max(facet, self.facets.get(name, facet)) for name, facet in other.facets.items()}
        silent, makers, sides = self.silent | other.silent, self.makers | other.makers, self.sides | other.sides
        return DeclaredFacets(self.stamp, {**self.facets, **both}, silent, makers, sides)


@dataclass(slots=True)
class Dataset:
    """The record of one dataset name."""

    observed: Seen | None = None
    """When runs touched it; None: only declared."""
    readers: set[JobId] = field(default_factory=set)
    writers: set[JobId] = field(default_factory=set)
    facets: MutableMapping[str, Stamped] = field(default_factory=dict)
    unchanged_since: dict[str, int] = field(default_factory=dict)
    """By facet, since when every report had the same content, in microseconds since 1970.

    No entry: its newest content was reported once.
    """
    declared: dict[FactKey, DeclaredFacets] = field(default_factory=dict)
    """By declaration key; a later declaration with the same key replaces the entire entry."""
    evidence: MutableMapping[EvidenceKey, Edge] = field(default_factory=dict)
    declared_over: Seen | None = None
    """The first and last time it was declared, including by declarations since replaced."""

    @property
    def is_known(self) -> bool:
        """False for a leftover name of a declaration since replaced."""
        return self.observed is not None or bool(self.declared)

    @property
    def was_declared(self) -> bool:
        """Whether it was ever declared, including by a declaration since replaced."""
        return bool(self.declared) or self.declared_over is not None

    @property
    def seen(self) -> Seen:
        """The first and last time that a run touched it or a declaration named it."""
        times = [Seen(declared.stamp.time_us, declared.stamp.time_us) for declared in self.declared.values()]
        return reduce(Seen.union, [*times, *filter(None, (self.observed, self.declared_over))])

    def observe(self, seen: Seen) -> None:
        """Record that a run touched it."""
        self.observed = seen if self.observed is None else self.observed.union(seen)

    def current_facets(self) -> dict[str, Stamped]:
        """The newest content of each facet, observed or declared."""
        newest = dict(self.facets)
        for declared in self.declared.values():
            for name, facet in declared.facets.items():
                newest[name] = max(newest.get(name, facet), facet)
        return newest


def settled_us(record: Job | Dataset, facet: str) -> int:
    """Since when all reports of a facet that it has had the same content, in microseconds since 1970."""
    return record.unchanged_since.get(facet, record.facets[facet].stamp.time_us)
