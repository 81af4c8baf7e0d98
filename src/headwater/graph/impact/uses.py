"""Uses of a dataset or column that later runs do without, so that a change of it no longer breaks the job.

A use is: a job reads this, and makes that of it. What events told once stays in the graph, and the job may have dropped
it since.

Of a job those later runs count that completed, and of a stream also those that go on, if they began after the use was
told last and made the same dataset. They do without the use if they tell of columns, or of what they read, and not of
this; else they do not tell. What a declaration or somebody else tells of a job stands, and so does what a stream told
that goes on.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from headwater.graph.lineage import Graph
from headwater.graph.records import Edge, EvidenceKey, Run
from headwater.model.facts import STRENGTH, TERMINAL_STATES
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId

ToldKey = tuple[DatasetId, EvidenceKey]
"""A facet, and the name of the dataset of whose columns it tells."""


_FIRST_US: Final = attrgetter("first_us")


class Since(NamedTuple):
    """What runs say of a use that began after it was told last."""

    last_us: int
    runs: int
    is_outlived: bool
    """Whether these do without it; False: they do not tell."""


class Using:
    """One use: who told that data goes from a dataset into another (None: into jobs only), and until when."""

    __slots__ = ("_jobs", "_keys", "_since", "_source", "_target", "_uses")

    def __init__(
        self,
        uses: "Uses",
        source: DatasetId,
        target: DatasetId | None,
        jobs: tuple[JobId, ...],
        keys: tuple[ToldKey, ...] = (),
    ) -> None:
        """The use of `source` to make `target`, as `uses` has it of one state of the graph.

        Args:
            uses: looks at runs when it is asked how the use stands.
            source: what is read.
            target: what is made of it; None for a use of which only the reading jobs are known.
            jobs: through which the data goes.
            keys: the facets that told the use by its columns; empty where only inputs and outputs were told.
        """
        self._uses = uses
        self._source = source
        self._target = target
        self._jobs = jobs
        self._keys = keys
        self._since: dict[tuple[JobId | None, bool], Since | None] = {}

    @property
    def last_us(self) -> int | None:
        """When it was told last."""
        if self._target is not None and self._keys:
            return max(self._uses.made(self._target).evidence[key].seen.last_us for key in self._keys)
        return self._uses.read_last_us(self._source, self._jobs)

    def since(self, job: JobId | None, *, is_whole: bool) -> Since | None:
        """What later runs say: of one of the jobs, or of all; None where it stands.

        `is_whole`: the source is used whichever its columns, so whoever reads it, uses it.
        """
        asked = (job, is_whole)
        if asked not in self._since:
            self._since[asked] = _all_of(self._told_since(job, is_whole=is_whole))
        return self._since[asked]

    def _told_since(self, job: JobId | None, *, is_whole: bool) -> Iterator[Since | None]:
        uses, source, target = self._uses, self._source, self._target
        if target is None:
            yield from (uses.since_read_by(each, source) for each in self._jobs)
            return
        if self._keys and not (is_whole and job):
            yield uses.since_told(target, source, self._keys, job)
        if is_whole or not self._keys:
            yield from (uses.since_read_for(each, source, target) for each in ((job,) if job else self._jobs))


class HandedOver(NamedTuple):
    """Who told that a job takes data from another without a dataset between."""

    last_us: int | None

    def since(self, _: JobId | None, *, is_whole: bool) -> None:
        """It stands: what jobs hand over is not told by what they read and write."""


def _all_of(told: Iterable[Since | None]) -> Since | None:
    """What is said of a use of which each of these tells; one that stands is enough for it to stand."""
    known = []
    for since in told:
        if since is None:
            return None
        known.append(since)
    if not known:
        return None
    is_outlived = all(since.is_outlived for since in known)
    return Since(max(since.last_us for since in known), sum(since.runs for since in known), is_outlived)


class _MadeRun(NamedTuple):
    """A run that made a dataset."""

    first_us: int
    run: Run
    keys: Mapping[ToldKey, int]
    """The strongest facets that it gave of the dataset's columns, and when it told them last."""
    goes_on: bool
    """A stream's that told no end."""


class _MadeBy(NamedTuple):
    """How a job made a dataset."""

    runs: Sequence[_MadeRun]
    """In the order in which they began."""
    told: Mapping[ToldKey, int]
    """When they told each facet last."""
    going_on: Collection[ToldKey]
    """What is told by runs that go on."""


class _Made(NamedTuple):
    """How a dataset is made, as far as nobody need look at runs for it."""

    members: tuple[DatasetId, ...]
    evidence: Mapping[ToldKey, Edge]
    declared: Collection[ToldKey]
    writes: Sequence[Edge]
    """One for each job that writes it."""


class Uses:
    """What runs told of uses, in one state of the graph; each job's are looked at once for a dataset, where need be."""

    def __init__(self, graph: Graph, is_stream: Callable[[JobId], bool]) -> None:
        # Of functions that do not refer to this: what they keep goes with it, and needs no collection of garbage.
        self._graph = graph
        self.made = cache(partial(_made, graph))
        self._made_by = cache(partial(_made_by, graph, is_stream))
        self._tellers = cache(partial(_tellers, graph, self.made, self._made_by))

    def read_last_us(self, source: DatasetId, jobs: Iterable[JobId]) -> int | None:
        """When any of the jobs was told last to read the dataset."""
        names = self._graph.members(source)
        times = (edge.seen for job in jobs for edge in _edges(self._graph, job, "reads", names))
        seen = Seen.over(times)
        return None if seen is None else seen.last_us

    def since_told(
        self, target: DatasetId, source: DatasetId, keys: tuple[ToldKey, ...], job: JobId | None
    ) -> Since | None:
        """What later runs say of a use that these facets tell: of that job, if it told it, else of all that did."""
        if self._is_told_to_the_last(target, keys):
            return None
        by_key = self._tellers(target)
        tellers = {teller for key in keys for teller in by_key.get(key, ())}
        return _all_of(
            self._since_told_by(teller, target, source, keys) for teller in ({job} if job in tellers else tellers)
        )

    def _is_told_to_the_last(self, target: DatasetId, keys: Collection[ToldKey]) -> bool:
        """Whether it stands for sure, without a look at runs: as nearly always."""
        made = self.made(target)
        if any(key in made.declared for key in keys):
            return True
        if len(made.evidence) == 1:
            (edge,) = made.evidence.values()
            if edge.runs == sum(write.runs for write in made.writes):
                return True
        last_us = max(made.evidence[key].seen.last_us for key in keys)
        if len(made.writes) != 1 or any(strength == STRENGTH["lineage"] for _, (strength, _) in made.evidence):
            return False
        others = (edge.seen.last_us for edge in (*made.evidence.values(), *made.writes))
        return all(other_us <= last_us for other_us in others)

    def _since_told_by(
        self, job: JobId, target: DatasetId, source: DatasetId, keys: Collection[ToldKey]
    ) -> Since | None:
        made = self._made_by(job, self.made(target).members)
        if any(key in made.going_on for key in keys):
            return None
        last_us = max(made.told[key] for key in keys if key in made.told)
        names = self._graph.members(source)
        later = made.runs[bisect_right(made.runs, last_us, key=_FIRST_US) :]
        return _since(self._graph, last_us, later, lambda each: bool(each.keys) or _reads_others(each.run, names))

    def since_read_by(self, job: JobId, source: DatasetId) -> Since | None:
        """What later runs of a job say of its reading a dataset: those that make what it made with it."""
        names = self._graph.members(source)
        if self._is_read_always(job, names):
            return None
        runs = map(self._graph.runs.__getitem__, self._graph.jobs[job].runs)
        made = {
            self._graph.shown(name) if direction == "output" else None
            for run in runs
            if _reads(run, names)
            for direction, name in run.observed
        }
        targets = made - {None} or {None}
        return _all_of(self._since_read(job, names, target) for target in targets)

    def since_read_for(self, job: JobId, source: DatasetId, target: DatasetId) -> Since | None:
        """The same of its reading a dataset to make another; where none of its runs did that, of its reading it."""
        names = self._graph.members(source)
        written = Seen.over(edge.seen for edge in _edges(self._graph, job, "writes", self.made(target).members))
        read_us = self.read_last_us(source, (job,))
        if written is None or read_us is None or read_us >= written.last_us or self._is_read_always(job, names):
            return None
        if not any(_reads(each.run, names) for each in self._made_by(job, self.made(target).members).runs):
            return self.since_read_by(job, source)
        return self._since_read(job, names, target)

    def _is_read_always(self, job: JobId, names: Sequence[DatasetId]) -> bool:
        """Whether all of the job's runs read it, or it is told by others than these."""
        known = self._graph.jobs[job]
        if any(("input", name) in known.told for name in names) or self._graph.is_declared_to_read(job, names):
            return True
        edges = [known.reads[name] for name in names if name in known.reads]
        return len(edges) == 1 and edges[0].runs == len(known.runs)

    def _since_read(self, job: JobId, names: Sequence[DatasetId], target: DatasetId | None) -> Since | None:
        runs = self._made_by(job, () if target is None else self.made(target).members).runs
        reading = [each for each in runs if _reads(each.run, names)]
        if not reading or any(each.goes_on for each in reading):
            return None
        ends = [each.run.observed.get(("input", name)) for each in reading for name in names]
        last_us = max(seen.last_us for seen in ends if seen is not None)
        later = runs[bisect_right(runs, last_us, key=_FIRST_US) :]
        return _since(self._graph, last_us, later, lambda each: _reads_others(each.run, names))


def _made(graph: Graph, target: DatasetId) -> _Made:
    members = graph.members(target)
    known = [(member, graph.datasets[member]) for member in members if member in graph.datasets]
    return _Made(
        members,
        {(member, key): edge for member, key, edge in tuple(graph.evidence_into(target))},
        {(member, told.evidence) for member, each in known for told in each.declared.values() if told.evidence},
        [edge for job in graph.writers(target) for edge in _edges(graph, job, "writes", members)],
    )


def _edges(graph: Graph, job: JobId, way: Literal["reads", "writes"], names: Iterable[DatasetId]) -> Iterator[Edge]:
    edges = graph.jobs[job].reads if way == "reads" else graph.jobs[job].writes
    return (edges[name] for name in names if name in edges)


def _made_by(graph: Graph, is_stream: Callable[[JobId], bool], job: JobId, members: tuple[DatasetId, ...]) -> _MadeBy:
    """How a job made the dataset of these names; of none: how it ran without making any."""
    stream, made = is_stream(job), []
    for run in map(graph.runs.__getitem__, graph.jobs[job].runs):
        keys = _strongest(run, members)
        if run.times is not None and (keys or _makes(run, members)):
            goes_on = stream and _state(graph, run) not in TERMINAL_STATES
            made.append(_MadeRun(run.times.seen.first_us, run, keys, goes_on))
    made.sort(key=_FIRST_US)
    told: dict[ToldKey, int] = {}
    for each in made:
        for key, last_us in each.keys.items():
            told[key] = max(told.get(key, last_us), last_us)
    return _MadeBy(made, told, {key for each in made if each.goes_on for key in each.keys})


def _state(graph: Graph, run: Run) -> str | None:
    """The event type of the state that the run is taken to be in."""
    end = graph.end_of(run)
    return None if end is None else end.event_type


def _makes(run: Run, members: Collection[DatasetId]) -> bool:
    if members:
        return any(("output", name) in run.observed for name in members)
    return bool(run.observed) and all(direction == "input" for direction, _ in run.observed)


def _strongest(run: Run, members: Iterable[DatasetId]) -> Mapping[ToldKey, int]:
    """The strongest facets that a run gave of a dataset's columns, and when it told them last."""
    if not run.evidence:
        return {}
    told = [((name, key), seen.last_us) for name in members for key, seen in run.evidence.get(name, ())]
    strongest = max((strength for (_, (strength, _)), _ in told), default=0)
    return {each: last_us for each, last_us in told if each[1][0] == strongest}


def _tellers(
    graph: Graph,
    made: Callable[[DatasetId], _Made],
    made_by: Callable[[JobId, tuple[DatasetId, ...]], _MadeBy],
    target: DatasetId,
) -> Mapping[ToldKey, Sequence[JobId]]:
    """The jobs whose runs told each facet."""
    members, jobs = made(target).members, {*graph.writers(target)}
    if any(strength == STRENGTH["lineage"] for _, (strength, _) in made(target).evidence):  # anybody's may tell of it
        telling = (graph.job_of(run_id) for name in members for run_id in graph.runs_telling_of(name))
        jobs.update(job for job in telling if job is not None)
    by_key: dict[ToldKey, list[JobId]] = defaultdict(list)
    for job in jobs:
        for key in made_by(job, members).told:
            by_key[key].append(job)
    return by_key


def _since(
    graph: Graph, last_us: int, later: Sequence[_MadeRun], does_without: Callable[[_MadeRun], bool]
) -> Since | None:
    """What these runs say, that all began after the use was told last."""
    completed = [each for each in later if not each.goes_on and _state(graph, each.run) == "COMPLETE"]
    if without := sum(map(does_without, (*completed, *(each for each in later if each.goes_on)))):
        return Since(last_us, without, is_outlived=True)
    return Since(last_us, len(completed), is_outlived=False) if completed else None


def _reads(run: Run, names: Iterable[DatasetId]) -> bool:
    return any(("input", name) in run.observed for name in names)


def _reads_others(run: Run, names: Iterable[DatasetId]) -> bool:
    """Whether a run tells what it reads, and none of these is."""
    return any(direction == "input" for direction, _ in run.observed) and not _reads(run, names)
