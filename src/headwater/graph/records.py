"""What the graph keeps of a run, a job, a dataset and an edge."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import reduce
from sys import intern
from typing import NamedTuple

from headwater.graph.fold import FactKey
from headwater.model.events import Direction, Stamp
from headwater.model.facts import STRENGTH, Declaration, RunFacet, RunOfJob, RunTimes, Stamped, Way
from headwater.model.flow_facts import Flow, Maker
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId

EvidenceKey = tuple[int, bytes]
"""Strength and the digest of the facet."""

Evidence = tuple[tuple[EvidenceKey, Seen], ...]
"""The facets that tell of one dataset's columns, each once, in their order: mostly one, and there are many runs."""


RunEnd = tuple[Direction, DatasetId]
"""What a run reads or writes."""


Teller = str | FactKey
"""Who tells of a flow: a run by its id, or a declaration by its key."""


@dataclass(slots=True)
class Edge:
    """A job reads or writes a dataset; `runs` 0 means it was only declared."""

    seen: Seen
    runs: int

    def count(self, seen: Seen, *, is_new_run: bool) -> None:
        """Widen the times seen, and count the run unless it was counted before."""
        self.seen, self.runs = self.seen.union(seen), self.runs + is_new_run

    def joined(self, other: "Edge | None") -> "Edge":
        """The edge of both: seen over both their times, by the runs of both."""
        return self if other is None else Edge(self.seen.union(other.seen), self.runs + other.runs)


@dataclass(slots=True)
class Run:
    """What is known of one run."""

    times: RunTimes | None = None
    of_job: RunOfJob | None = None
    observed: dict[RunEnd, Seen] = field(default_factory=dict)
    evidence: dict[DatasetId, Evidence] = field(default_factory=dict)
    told: "ToldOfRun | None" = None
    """What few runs tell; None for all others, of which there are many."""

    @property
    def has_begun(self) -> bool:
        """Whether it told more than that it was created: that it is under way or over, or what it wrote."""
        if self.times is None:
            return False
        return self.times.state[2] != "OTHER" or any(direction == "output" for direction, _ in self.observed)

    def hear(self, told: RunTimes) -> None:
        """Note when it was heard of, and its state; as of all that is kept, what is said alike is one object."""
        times = told if self.times is None else self.times.merge(told)
        rank, stamp, event_type = times.state
        if self.of_job is not None and self.of_job.stamp == stamp:
            stamp = self.of_job.stamp
        first_us, last_us = (stamp.time_us if each == stamp.time_us else each for each in times.seen)
        started_us = first_us if times.started_us == first_us else times.started_us
        self.times = RunTimes(times.run_id, Seen(first_us, last_us), (rank, stamp, intern(event_type)), started_us)

    def same_times(self, seen: Seen) -> Seen:
        """These times as the object that the run has for them, where it has one: mostly its own, or its end."""
        if self.times is None:
            return seen
        own = self.times.seen
        known = (own, next(reversed(self.observed.values()), own), Seen(own.last_us, own.last_us))
        return next((each for each in known if each == seen), seen)

    def same_stamp(self, stamp: Stamp) -> Stamp:
        """This stamp as the object that the run has for it, where that of its state is the same."""
        return self.times.state[1] if self.times is not None and self.times.state[1] == stamp else stamp

    def copy(self) -> "Run":
        """What is known by now, whatever comes."""
        return Run(self.times, self.of_job, {**self.observed}, {**self.evidence}, self.told and self.told.copy())


@dataclass(slots=True)
class ToldOfRun:
    """What a run tells beyond its data: that it failed and why, that it tested, what it waited for, jobs' flow."""

    failed: Seen | None = None
    """When it told that it failed, which it may take back: its state is in its times."""
    has_tested: bool = False
    """Whether it ever told of tests."""
    facets: dict[str, RunFacet] = field(default_factory=dict)
    """By name those of its facets that say that something went wrong."""
    control: dict[tuple[Way, JobId, str], Seen] = field(default_factory=dict)
    """By way, the job that is named, and the type of the dependency."""
    flows: dict[Flow, Seen] = field(default_factory=dict)
    uses: dict[bytes, Seen] = field(default_factory=dict)
    """By their digests the facets which say what jobs use themselves."""
    renames: dict[tuple[DatasetId, DatasetId], Seen] = field(default_factory=dict)
    """By the names that it gave and those that were before."""

    def copy(self) -> "ToldOfRun":
        """What was told by now."""
        facets, control, flows, uses = {**self.facets}, {**self.control}, {**self.flows}, {**self.uses}
        return ToldOfRun(self.failed, self.has_tested, facets, control, flows, uses, {**self.renames})


@dataclass(slots=True)
class Job:
    """What is known of one job."""

    runs: set[str] = field(default_factory=set)
    facets: MutableMapping[str, Stamped] = field(default_factory=dict)
    """By facet what it said last."""
    alike_since: dict[str, int] = field(default_factory=dict)
    """By facet since when it was told over and over with the same content, in microseconds since 1970.

    Not there: it is new, or was told once.
    """
    reads: dict[DatasetId, Edge] = field(default_factory=dict)
    writes: dict[DatasetId, Edge] = field(default_factory=dict)
    uses: MutableMapping[bytes, Edge] = field(default_factory=dict)
    """By their digests the facets by which its runs say what jobs use themselves."""
    declaration: Declaration | None = None
    declared_over: Seen | None = None
    """When it was declared first and last: `declaration` is the last."""
    children: set[str] = field(default_factory=set)
    """Runs whose parent facet names this job, be it as the root's."""
    named: set[str] = field(default_factory=set)
    """The runs of this job that those name; they may be silent themselves."""
    told: dict[tuple[Direction, DatasetId], dict[Teller, Seen]] = field(default_factory=dict)
    """What others say that this job reads and writes."""
    told_of_any: dict[tuple[Direction, DatasetId], set[Teller]] = field(default_factory=dict)
    """Those of them that do not say which of its runs does."""
    feeds: dict[JobId, dict[Teller, Seen]] = field(default_factory=dict)
    """Jobs that take data from this one without a dataset between."""
    fed_by: dict[JobId, dict[Teller, Seen]] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """False for a job that only a run which turned out to belong elsewhere once named."""
        return self.is_known_otherwise or bool(self.children)

    @property
    def is_known_otherwise(self) -> bool:
        """Whether it is known by more than what other runs name as the job of their parent or root."""
        return bool(self.runs or self.declaration or self.told or self.feeds or self.fed_by)

    @property
    def is_told_by_others(self) -> bool:
        """Whether it was ever declared, or others told of it than its own runs and their parts."""
        return bool(self.declared_over or self.declaration or self.told or self.feeds or self.fed_by)


class DeclaredFacets(NamedTuple):
    """A dataset's facets as one declaration gave them."""

    stamp: Stamp
    facets: Mapping[str, Stamped]
    silent: frozenset[bytes] = frozenset()
    """Those of them that may say what it is made from, and do not: be it that they are taken back."""
    makers: frozenset[Maker] = frozenset()
    """The jobs that it says make the dataset."""
    sides: frozenset[Direction] = frozenset()
    """On which side of its job it has the dataset."""

    @property
    def evidence(self) -> EvidenceKey | None:
        """The strongest facet that tells of columns."""
        for facet, strength in STRENGTH.items():
            if facet in self.facets and self.facets[facet].content not in self.silent:
                return strength, self.facets[facet].content
        return None

    def merge(self, other: "DeclaredFacets") -> "DeclaredFacets":
        """Return the later of the two; one declaration may name a dataset twice, and then says both."""
        if self.stamp != other.stamp:
            return max(self, other, key=lambda declared: declared.stamp)
        both = {name: max(said, self.facets.get(name, said)) for name, said in other.facets.items()}
        silent, makers, sides = self.silent | other.silent, self.makers | other.makers, self.sides | other.sides
        return DeclaredFacets(self.stamp, {**self.facets, **both}, silent, makers, sides)


@dataclass(slots=True)
class Dataset:
    """What is known of one dataset name."""

    observed: Seen | None = None
    """When runs touched it; None: it was only declared."""
    readers: set[JobId] = field(default_factory=set)
    writers: set[JobId] = field(default_factory=set)
    facets: MutableMapping[str, Stamped] = field(default_factory=dict)
    alike_since: dict[str, int] = field(default_factory=dict)
    """By facet since when it was told over and over with the same content, in microseconds since 1970.

    Not there: it is new, or was told once.
    """
    declared: dict[FactKey, DeclaredFacets] = field(default_factory=dict)
    """Facets by the declaration that gave them; a later declaration with the same key replaces them whole."""
    evidence: MutableMapping[EvidenceKey, Edge] = field(default_factory=dict)
    declared_over: Seen | None = None
    """When it was declared first and last, also by declarations since replaced."""

    @property
    def is_known(self) -> bool:
        """False for a name that only a declaration since replaced once held."""
        return self.observed is not None or bool(self.declared)

    @property
    def was_declared(self) -> bool:
        """Whether it was ever declared, perhaps by a declaration that another has replaced since."""
        return bool(self.declared) or self.declared_over is not None

    @property
    def seen(self) -> Seen:
        """The first and last time that a run touched it or a declaration named it."""
        times = [Seen(declared.stamp.time_us, declared.stamp.time_us) for declared in self.declared.values()]
        return reduce(Seen.union, [*times, *filter(None, (self.observed, self.declared_over))])

    def observe(self, seen: Seen) -> None:
        """Note that a run touched it."""
        self.observed = seen if self.observed is None else self.observed.union(seen)

    def current_facets(self) -> dict[str, Stamped]:
        """What each facet said last, observed or declared."""
        newest = dict(self.facets)
        for declared in self.declared.values():
            for name, said in declared.facets.items():
                newest[name] = max(newest.get(name, said), said)
        return newest
