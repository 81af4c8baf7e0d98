"""Uses of a dataset or column that later runs no longer have, so that changing it does not break the job.

A use is: a job reads this, and derives that from it. What was reported once stays in the graph, though the job may have
dropped the use since.

Runs of the job count that completed, and for a stream also those in progress, if they began after the use was last
reported and wrote the same dataset. They do without the use if they report columns, or inputs, but not this; otherwise
they say nothing. Uses reported by a declaration or by others are always in force, as are those of a running stream.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Final, Literal, NamedTuple

from headwater.graph.impact.run_groups import AT_ONCE, EvidenceRef, JobRuns, RunGroup, RunGroups, RunProfile
from headwater.graph.lineage import Graph
from headwater.graph.records import Edge, Run
from headwater.model.facts import STRENGTH
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import BEFORE_ALL_US

_SILENT: Final = Run()
"""Stands for a run that a past no longer has, after late facts."""


class Since(NamedTuple):
    """The evidence about a use of runs that began after it was last reported."""

    last_us: int
    runs: int
    is_superseded: bool
    """True: they do not use it; False: they do not say."""


class ReportedUse:
    """One use: who reported that data goes from a dataset into another (None: into jobs only), and until when."""

    __slots__ = ("_jobs", "_keys", "_since", "_source", "_target", "_uses")

    def __init__(
        self,
        uses: "Uses",
        source: DatasetId,
        target: DatasetId | None,
        jobs: tuple[JobId, ...],
        keys: tuple[EvidenceRef, ...] = (),
    ) -> None:
        """The use of `source` to make `target`, in one state of the graph.

        Args:
            uses: evaluates runs on demand.
            source: the dataset that is read.
            target: the dataset derived from it; None for a use of which only the reading jobs are known.
            jobs: the jobs through which the data goes.
            keys: the facets that report the use by its columns; empty where only inputs and outputs were reported.
        """
        self._uses = uses
        self._source = source
        self._target = target
        self._jobs = jobs
        self._keys = keys
        self._since: dict[tuple[JobId | None, bool], Since | None] = {}

    @property
    def last_us(self) -> int | None:
        """When the use was last reported."""
        if self._target is not None and self._keys:
            return max(self._uses.evidence_of(self._target).evidence[key].seen.last_us for key in self._keys)
        return self._uses.read_last_us(self._source, self._jobs)

    def since(self, job: JobId | None, *, is_whole: bool) -> Generator[None, None, Since | None]:
        """The evidence of later runs of one job, or of all; None: the use is in force. Yields between steps.

        `is_whole`: the entire source is used, so that reading it is a use.
        """
        key = (job, is_whole)
        if key not in self._since:
            later = yield from self._later(job, is_whole=is_whole)
            self._since[key] = None if later is None else later.since()
        return self._since[key]

    def _later(self, job: JobId | None, *, is_whole: bool) -> "LaterAnswer":
        uses, source, target = self._uses, self._source, self._target
        if target is None:
            return (yield from combined(uses.since_read_by(each, source) for each in self._jobs))
        answers: list[LaterAnswer] = []
        if self._keys and not (is_whole and job):
            answers.append(uses.since_reported(target, source, self._keys, job))
        if is_whole or not self._keys:
            answers += (uses.since_read_for(each, source, target) for each in ((job,) if job else self._jobs))
        return (yield from combined(answers))


class Handover(NamedTuple):
    """A reported handover of data from job to job without a dataset between."""

    last_us: int | None

    def since(self, _: JobId | None, *, is_whole: bool) -> Generator[None, None, None]:
        """Always None: inputs and outputs do not show direct handovers."""
        yield from ()


class LaterRuns(NamedTuple):
    """Runs that began after a use was last reported, and their evidence about it."""

    last_us: int
    """When it was last reported."""
    is_superseded: bool
    """True: all do not use it; False: some do not say."""
    runs: Mapping[RunGroup, int]
    """Groups of runs, each with the time after which its runs count."""

    def since(self) -> Since:
        """The same as counts."""
        return Since(self.last_us, sum(group.count_after(us) for group, us in self.runs.items()), self.is_superseded)

    def joined(self, other: "LaterRuns") -> "LaterRuns":
        """Both answers combined, for two uses that are one; a run that counts for both counts once."""
        runs = {**self.runs}
        for group, after_us in other.runs.items():
            runs[group] = min(runs.get(group, after_us), after_us)
        return LaterRuns(max(self.last_us, other.last_us), self.is_superseded and other.is_superseded, runs)


LaterAnswer = Generator[None, None, LaterRuns | None]
"""The evidence of later runs, None if the use is in force; yields between steps, so that other work can run."""


def combined(answers: Iterable[LaterAnswer]) -> LaterAnswer:
    """The combined answer for a use with several reports; one that is in force is enough for the use to be."""
    found: LaterRuns | None = None
    for answer in answers:
        later = yield from answer
        if later is None:
            return None
        found = later if found is None else found.joined(later)
    return found


class TargetEvidence(NamedTuple):
    """The reports about how a dataset is derived, without looking at runs."""

    members: tuple[DatasetId, ...]
    """Its names."""
    evidence: Mapping[EvidenceRef, Edge]
    """The facets that report its columns."""
    declared: Collection[EvidenceRef]
    """Those of them from declarations."""
    writes: Sequence[Edge]
    """One for each job that writes it."""

    @property
    def may_be_by_others(self) -> bool:
        """Whether jobs that do not write it may report its columns."""
        return any(strength == STRENGTH["lineage"] for _, (strength, _) in self.evidence)


class Uses:
    """Evaluates uses by the runs of jobs; the reports about a dataset are read once, and fixed from then on."""

    def __init__(self, graph: Graph, runs: RunGroups, is_stream: Callable[[JobId], bool]) -> None:
        # The cached functions do not refer to this object: their caches are freed with it, without a garbage
        # collection.
        self.graph = graph
        self.runs = runs
        self._is_stream = cache(is_stream)
        self.evidence_of = cache(partial(_target_evidence, graph))
        self._reporters: dict[DatasetId, Mapping[EvidenceRef, Sequence[JobId]]] = {}

    def read_last_us(self, source: DatasetId, jobs: Iterable[JobId]) -> int | None:
        """When any of the jobs was last reported to read the dataset."""
        names = self.graph.members(source)
        times = (edge.seen for job in jobs for edge in _edges(self.graph, job, "reads", names))
        seen = Seen.over(times)
        return None if seen is None else seen.last_us

    def since_reported(
        self, target: DatasetId, source: DatasetId, keys: tuple[EvidenceRef, ...], job: JobId | None
    ) -> LaterAnswer:
        """The evidence of later runs of that job, if it reported the use in these facets, else of all jobs that did.

        For example: a run reported on Monday that it makes `out:x` from `in:x`, and a run of the same job that began on
        Tuesday, and completed, reported only other columns of `out`: the use was last reported on Monday, and one run
        does not use it. Had Tuesday's reported no columns, and read `in`, it would not say; had it failed, the use
        would be in force.
        """
        known = self.evidence_of(target)
        if _is_surely_in_force(known, keys) or self._is_in_newest_run(target, keys, job):
            return None
        by_key = yield from self.reporters_of(target)
        reporters = {reporter: None for key in keys for reporter in by_key.get(key, ())}
        named = [job] if job is not None and job in reporters else [*reporters]
        return (yield from combined(self._since_reported_by(reporter, target, source, keys) for reporter in named))

    def _is_in_newest_run(self, target: DatasetId, keys: Collection[EvidenceRef], job: JobId | None) -> bool:
        """Whether the newest run of that job, or of any, reported it: then it is in force."""
        members = self.evidence_of(target).members
        newest = (self.runs.newest(each, members) for each in ((job,) if job else self.graph.writers(target)))
        return any(profile is not None and not {*keys}.isdisjoint(profile.strongest(members)) for profile in newest)

    def reporters_of(self, target: DatasetId) -> Generator[None, None, Mapping[EvidenceRef, Sequence[JobId]]]:
        """By facet, the jobs whose runs reported it."""
        if target not in self._reporters:
            by_key: dict[EvidenceRef, list[JobId]] = defaultdict(list)
            members = self.evidence_of(target).members
            for job in (yield from self._possible_reporters(target)):
                producing = (yield from self.runs.of(job)).producing(members)
                for key in {key for group in producing for key in group.profile.strongest(members)}:
                    by_key[key].append(job)
            self._reporters[target] = by_key
        return self._reporters[target]

    def _possible_reporters(self, target: DatasetId) -> Generator[None, None, Iterable[JobId]]:
        graph, known = self.graph, self.evidence_of(target)
        jobs = {*graph.writers(target)}
        if known.may_be_by_others:
            for name in known.members:
                for group in _groups([*graph.runs_reporting(name)]):
                    jobs.update(job for job in map(graph.job_of, group) if job is not None)
                    yield
        return jobs

    def _since_reported_by(
        self, job: JobId, target: DatasetId, source: DatasetId, keys: Collection[EvidenceRef]
    ) -> LaterAnswer:
        members, names = self.evidence_of(target).members, self.graph.members(source)
        producing = (yield from self.runs.of(job)).producing(members)
        reporting = [group for group in producing if not {*keys}.isdisjoint(group.profile.strongest(members))]

        def last_us(profile: RunProfile, run: Run) -> int:
            reported = {*keys}.intersection(profile.strongest(members))
            return max(
                seen.last_us for name in members for key, seen in run.evidence.get(name, ()) if (name, key) in reported
            )

        def does_without(profile: RunProfile) -> bool:
            return bool(profile.strongest(members)) or profile.reads_others(names)

        return self.since(job, producing, reporting, last_us, does_without)

    def since_read_by(self, job: JobId, source: DatasetId) -> LaterAnswer:
        """The evidence about a job's reads of a dataset of its later runs with the same outputs.

        For example: a run read `in` on Monday and wrote nothing, and so did one on Tuesday that read `in2`: one run
        does not use `in` since. A run that writes `out2` from `in2` does not count for `out`.
        """
        names = self.graph.members(source)
        if _is_read_always(self.graph, job, names):
            return None
        newest = self.runs.newest(job, ())
        if newest is not None and newest.reads(names) and any(direction == "output" for direction, _ in newest.ends):
            return None
        outputs = self.outputs((yield from self.runs.of(job)), lambda profile: profile.reads(names))
        return (yield from combined(self._since_read(job, names, target) for target in outputs))

    def outputs(self, runs: JobRuns, by: Callable[[RunProfile], bool]) -> Collection[DatasetId | None]:
        """The outputs, by shown names, of the job's runs for which `by` holds; None alone if there are none."""
        ends = (end for group in runs.all() if by(group.profile) for end in group.profile.ends)
        return {self.graph.shown(name) for direction, name in ends if direction == "output"} or {None}

    def since_read_for(self, job: JobId, source: DatasetId, target: DatasetId) -> LaterAnswer:
        """As `since_read_by`, for reading a dataset to write another; if none of its runs did, for reading it at all.

        For example: a run read `in` and wrote `out` on Monday, and one on Tuesday read `in2` and wrote `out`: one run
        does not use `in` since. Had Tuesday's reported no inputs, it would not say.
        """
        names, members = self.graph.members(source), self.evidence_of(target).members
        written = Seen.over(edge.seen for edge in _edges(self.graph, job, "writes", members))
        read_us = self.read_last_us(source, (job,))
        if written is None or read_us is None or read_us >= written.last_us or _is_read_always(self.graph, job, names):
            return None
        newest = self.runs.newest(job, members)
        if newest is not None and newest.reads(names):
            return None
        producing = (yield from self.runs.of(job)).producing(members)
        if not any(group.profile.reads(names) for group in producing):
            return (yield from self.since_read_by(job, source))
        return (yield from self._since_read(job, names, target))

    def _since_read(self, job: JobId, names: Collection[DatasetId], target: DatasetId | None) -> LaterAnswer:
        runs = yield from self.runs.of(job)
        producing = runs.producing(() if target is None else self.evidence_of(target).members)
        reading = [group for group in producing if group.profile.reads(names)]

        def last_us(_: RunProfile, run: Run) -> int:
            times = (run.observed["input", name].last_us for name in names if ("input", name) in run.observed)
            return max(times, default=BEFORE_ALL_US)

        return self.since(job, producing, reading, last_us, lambda profile: profile.reads_others(names))

    def since(
        self,
        job: JobId,
        producing: Iterable[RunGroup],
        using: Collection[RunGroup],
        last_us: Callable[[RunProfile, Run], int],
        does_without: Callable[[RunProfile], bool],
    ) -> LaterRuns | None:
        """The evidence of a job's runs that began after others of them last reported a use."""
        is_stream, runs = self._is_stream(job), self.graph.runs
        if is_stream and any(group.profile.state == "open" for group in using):
            return None

        def end_us(group: RunGroup) -> int | None:
            return group.last_us(lambda run_id: last_us(group.profile, runs.get(run_id, _SILENT)))

        after_us = max((us for us in map(end_us, using) if us is not None), default=None)
        if after_us is None:
            return None
        states = ("completed", "open") if is_stream else ("completed",)
        later = [group for group in producing if group.profile.state in states and group.count_after(after_us)]
        if without := [group for group in later if does_without(group.profile)]:
            return LaterRuns(after_us, True, dict.fromkeys(without, after_us))
        completed = [group for group in later if group.profile.state == "completed"]
        return LaterRuns(after_us, False, dict.fromkeys(completed, after_us)) if completed else None


def _is_surely_in_force(known: TargetEvidence, keys: Collection[EvidenceRef]) -> bool:
    """Whether the use is certain without looking at runs: the common case."""
    if any(key in known.declared for key in keys):
        return True
    if len(known.evidence) == 1:
        (edge,) = known.evidence.values()
        if edge.runs == sum(write.runs for write in known.writes):
            return True
    if len(known.writes) != 1 or known.may_be_by_others:
        return False
    last_us = max(known.evidence[key].seen.last_us for key in keys)
    others = (edge.seen.last_us for edge in (*known.evidence.values(), *known.writes))
    return all(other_us <= last_us for other_us in others)


def _target_evidence(graph: Graph, target: DatasetId) -> TargetEvidence:
    members = graph.members(target)
    known = [(member, graph.datasets[member]) for member in members if member in graph.datasets]
    return TargetEvidence(
        members,
        {(member, key): edge for member, key, edge in tuple(graph.evidence_into(target))},
        {(member, by.evidence) for member, each in known for by in each.declared.values() if by.evidence},
        [edge for job in graph.writers(target) for edge in _edges(graph, job, "writes", members)],
    )


def _groups(run_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (run_ids[begin : begin + AT_ONCE] for begin in range(0, len(run_ids), AT_ONCE))


def _edges(graph: Graph, job: JobId, side: Literal["reads", "writes"], names: Iterable[DatasetId]) -> Iterator[Edge]:
    known = graph.jobs.get(job)
    if known is not None:
        edges = known.reads if side == "reads" else known.writes
        yield from (edges[name] for name in names if name in edges)


def _is_read_always(graph: Graph, job: JobId, names: Sequence[DatasetId]) -> bool:
    """Whether all of the job's runs read it, or the read is reported by others than its runs."""
    known = graph.jobs.get(job)
    if known is None:
        return True
    if any(("input", name) in known.reported for name in names) or graph.is_declared_to_read(job, names):
        return True
    edges = [known.reads[name] for name in names if name in known.reads]
    return len(edges) == 1 and edges[0].runs == len(known.runs)
