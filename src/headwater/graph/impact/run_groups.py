"""A job's runs grouped by profile (inputs, outputs, evidence): a job may have thousands of runs, but few profiles.

Built for a job on the first question, then updated incrementally; dropped when pending updates outnumber the runs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Literal, NamedTuple

from headwater.graph.lineage import Graph
from headwater.graph.records import EvidenceKey, Run, RunEnd
from headwater.model.facts import TERMINAL_STATES, RunOfJob
from headwater.model.names import DatasetId, JobId

EvidenceRef = tuple[DatasetId, EvidenceKey]
"""A facet, and the dataset name whose columns it reports."""

AT_ONCE: Final = 64
"""Runs processed per step: some tenths of a millisecond."""
_NEWEST: Final = 32
"""The newest runs, tried one by one before all runs are processed."""


class RunProfile(NamedTuple):
    """The inputs, outputs, evidence and state of a run, without times."""

    ends: frozenset[RunEnd]
    """Its inputs and outputs."""
    evidence: frozenset[EvidenceRef]
    """The facets in which it reports columns."""
    state: Literal["completed", "failed", "open"]
    """`open`: no end reported."""
    uses: frozenset[bytes] = frozenset()
    """The facets in which it reports what jobs use themselves."""

    def reads(self, names: Iterable[DatasetId]) -> bool:
        """Whether it read any of these."""
        return any(("input", name) in self.ends for name in names)

    def reads_others(self, names: Iterable[DatasetId]) -> bool:
        """Whether it reported inputs, and none of these is among them."""
        return any(direction == "input" for direction, _ in self.ends) and not self.reads(names)

    def produces(self, names: Collection[DatasetId]) -> bool:
        """Whether it produced the dataset with these names; without names: whether it read and produced nothing."""
        if names:
            return bool(self.strongest(names)) or any(("output", name) in self.ends for name in names)
        return bool(self.ends) and all(direction == "input" for direction, _ in self.ends)

    def strongest(self, names: Collection[DatasetId]) -> Collection[EvidenceRef]:
        """Its strongest facets about the dataset with these names."""
        keys = [key for key in self.evidence if key[0] in names]
        strongest = max((strength for _, (strength, _) in keys), default=0)
        return [key for key in keys if key[1][0] == strongest]


def profile_of(graph: Graph, run: Run) -> RunProfile | None:
    """The profile of a run; None for a run without events of its own."""
    end = graph.end_of(run)
    if end is None:
        return None
    evidence = frozenset((name, key) for name, facets in run.evidence.items() for key, _ in facets)
    state: Literal["completed", "failed", "open"] = "completed" if end.event_type == "COMPLETE" else "failed"
    uses = frozenset(() if run.extras is None else run.extras.uses)
    return RunProfile(frozenset(run.observed), evidence, state if end.event_type in TERMINAL_STATES else "open", uses)


class RunGroup:
    """A group of one job's runs with the same profile, with each run's first and last time. Compared by identity."""

    __slots__ = ("_firsts", "_is_in_order", "_lasts", "profile")

    def __init__(self, profile: RunProfile) -> None:
        self.profile = profile
        self._firsts: list[int] = []
        self._lasts: list[tuple[int, str]] = []
        self._is_in_order = True

    def __len__(self) -> int:
        """The number of runs."""
        return len(self._firsts)

    def add(self, run_id: str, first_us: int, last_us: int) -> None:
        """Add a run."""
        self._firsts.append(first_us)
        self._lasts.append((last_us, run_id))
        self._is_in_order = False

    def remove(self, run_id: str, first_us: int, last_us: int) -> None:
        """Remove a run that was added with these times."""
        self._put_in_order()
        del self._firsts[bisect_left(self._firsts, first_us)]
        del self._lasts[bisect_left(self._lasts, (last_us, run_id))]

    def count_after(self, time_us: int) -> int:
        """The number of runs that began after that time."""
        self._put_in_order()
        return len(self._firsts) - bisect_right(self._firsts, time_us)

    def last_us(self, reported_us: Callable[[str], int]) -> int | None:
        """The latest `reported_us` of any run, which must not be after the run's last report; None without runs.

        Runs are tried in descending order of their last report, until no remaining run can yield a later time.
        """
        self._put_in_order()
        found: int | None = None
        for last_us, run_id in reversed(self._lasts):
            if found is not None and last_us <= found:
                break
            found = reported_us(run_id) if found is None else max(found, reported_us(run_id))
        return found

    def _put_in_order(self) -> None:
        if not self._is_in_order:
            self._firsts.sort()
            self._lasts.sort()
            self._is_in_order = True


class _Grouped(NamedTuple):
    """A run's group, and the times it was added with."""

    group: RunGroup
    first_us: int
    last_us: int


class JobRuns:
    """The runs of one job, grouped by profile."""

    def __init__(self, graph: Graph, job: JobId, others: "JobRuns | None" = None) -> None:
        """`others` are the groups of the job in another graph, reused for runs that are the same in both."""
        known = graph.jobs.get(job)
        self._graph = graph
        self._others = others
        self._job = job
        self._waiting: set[str] = set() if known is None else {*known.runs}
        """Runs to be processed, some of them again."""
        self._grouped: dict[str, _Grouped] = {}
        self._groups: dict[RunProfile, RunGroup] = {}
        self._producing: dict[DatasetId, dict[RunGroup, None]] = {}
        self._is_processed = False

    def queue(self, run_id: str) -> bool:
        """Queue a run to be processed before the next answer; False: the backlog is so large that a rebuild is due."""
        self._waiting.add(run_id)
        return not self._is_processed or len(self._waiting) <= AT_ONCE + len(self._grouped)

    def process(self) -> Iterator[None]:
        """Process the queued runs, one batch a step."""
        while self._waiting:
            for _ in range(min(AT_ONCE, len(self._waiting))):
                self._process(self._waiting.pop())
            yield
        self._is_processed = True

    def all(self) -> Iterable[RunGroup]:
        """All groups."""
        return [*self._groups.values()]

    def producing(self, names: Collection[DatasetId]) -> list[RunGroup]:
        """The groups that produced the dataset with these names; without names: those that only read."""
        groups = dict.fromkeys(group for name in names for group in self._producing.get(name, ()))
        return [group for group in (groups if names else self._groups.values()) if group.profile.produces(names)]

    def _process(self, run_id: str) -> None:
        grouped = self._grouped.pop(run_id, None)
        if grouped is not None:
            grouped.group.remove(run_id, grouped.first_us, grouped.last_us)
            if not grouped.group:
                self._drop(grouped.group)
        run = self._graph.runs.get(run_id)
        if run is None or run.times is None or run.of_job is None or run.of_job.job != self._job:
            return
        if (profile := self._profile_of(run_id, run)) is not None:
            group = self._groups.get(profile) or self._begin(profile)
            group.add(run_id, *run.times.seen)
            self._grouped[run_id] = _Grouped(group, *run.times.seen)

    def _profile_of(self, run_id: str, run: Run) -> RunProfile | None:
        others = self._others
        if others is not None and others._graph.runs.get(run_id) is run and run_id in others._grouped:
            return others._grouped[run_id].group.profile
        return profile_of(self._graph, run)

    def _begin(self, profile: RunProfile) -> RunGroup:
        group = self._groups[profile] = RunGroup(profile)
        for name in _outputs(profile):
            self._producing.setdefault(name, {})[group] = None
        return group

    def _drop(self, group: RunGroup) -> None:
        del self._groups[group.profile]
        for name in _outputs(group.profile):
            del self._producing[name][group]
            if not self._producing[name]:
                del self._producing[name]


def _outputs(profile: RunProfile) -> set[DatasetId]:
    return {name for direction, name in profile.ends if direction == "output"} | {name for name, _ in profile.evidence}


class RunGroups:
    """Run groups of jobs, cached on first use."""

    def __init__(
        self,
        graph: Graph,
        newest_first: Callable[[JobId], Iterable[str]] | None = None,
        now: "RunGroups | None" = None,
    ) -> None:
        """Nothing cached yet.

        `newest_first` gives the runs of a job in reverse order of their start, possibly with runs without events; `now`
        belongs to the current graph if this is a past: most runs are the same in both.
        """
        self._graph = graph
        self._newest_first = newest_first
        self._now = now
        self._cache: dict[JobId, JobRuns] = {}

    def of(self, job: JobId) -> Generator[None, None, JobRuns]:
        """The run groups of a job; yields between batches, so that other work can run."""
        cached = self._cache.get(job)
        if cached is None:
            others = None if self._now is None else (yield from self._now.of(job))
            cached = self._cache[job] = JobRuns(self._graph, job, others)
        yield from cached.process()
        return cached

    def newest(self, job: JobId, names: Collection[DatasetId]) -> RunProfile | None:
        """The profile of the newest run that produced the dataset with these names; without names: of the newest run.

        None where it is not among the newest few, or their order is unknown.
        """
        if self._newest_first is None or job not in self._graph.jobs:
            return None
        for run_id in islice(self._newest_first(job), _NEWEST):
            run = self._graph.runs.get(run_id)
            profile = None if run is None else profile_of(self._graph, run)
            if profile is not None and (not names or profile.produces(names)):
                return profile
        return None

    def change(self, before: Mapping[str, RunOfJob | None]) -> None:
        """Update the groups after facts about these runs; `before` has the job that each run had before."""
        for run_id, was_of in before.items() if self._cache else ():
            of_job = self._graph.runs[run_id].of_job
            for job in {each.job for each in (was_of, of_job) if each is not None} & self._cache.keys():
                if not self._cache[job].queue(run_id):
                    del self._cache[job]  # rebuilt when next asked for
