"""Known gaps, maintained incrementally: a subject is examined once, and again after an event touched it.

An answer takes as long as the subjects touched since the last one, and the runs still going on: whether their silence
is a gap depends on the time asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_args

from headwater.errors import HeadwaterError
from headwater.graph import coverage
from headwater.graph.column_edges import ContentReader
from headwater.graph.coverage import Expected, Gap, GapKind
from headwater.graph.fold import FactKey
from headwater.graph.lineage import Graph
from headwater.model.facts import Fact, Quarantined, RunTimes
from headwater.model.names import DatasetId, JobId
from headwater.service.tallies.ordered import Ordered

KINDS: Final[tuple[GapKind, ...]] = get_args(GapKind)

_SLICE: Final = 32
"""Runs, jobs or datasets examined per step."""

SubjectT = TypeVar("SubjectT", bound=Hashable)

_Position = tuple[int, str, str, tuple[str, ...], str]
"""Sort key of a gap within its kind and namespace, newest first; the last part distinguishes equal-looking gaps."""


class GapIndex:
    """Gaps by kind and namespace, in order."""

    def __init__(self) -> None:
        self._orders: dict[GapKind, dict[str, Ordered[_Position]]] = {kind: defaultdict(Ordered) for kind in KINDS}
        self.counts: Counter[tuple[str, GapKind]] = Counter()

    def put(self, gap: Gap, apart: str) -> None:
        """Add a gap."""
        self._orders[gap.kind][gap.namespace].add(_position(gap, apart))
        self.counts[gap.namespace, gap.kind] += 1

    def take(self, gap: Gap, apart: str) -> None:
        """Remove a gap."""
        self._orders[gap.kind][gap.namespace].remove(_position(gap, apart))
        self.counts[gap.namespace, gap.kind] -= 1

    def sort(self) -> Iterator[None]:
        """Sort them, one kind in one namespace per step."""
        for order in [order for orders in self._orders.values() for order in orders.values()]:
            order.items()
            yield

    def newest_first(self, kind: GapKind, namespace: str | None) -> Iterator[Gap]:
        """The gaps of a kind in a namespace, or in all (None); valid until the next change."""
        orders = self._orders[kind]
        names = [*orders] if namespace is None else [namespace] if namespace in orders else []
        for position, name in merge(*(_with_name(orders[each].items(), each) for each in names)):
            at, node_id, words, related, _ = position
            yield Gap(kind, node_id, name, words, -at, related)


def _position(gap: Gap, apart: str) -> _Position:
    return -gap.at_us, gap.node_id, gap.words, gap.related, apart


def _with_name(positions: Sequence[_Position], name: str) -> Iterator[tuple[_Position, str]]:
    return ((position, name) for position in positions)


class GapsBySubject(Generic[SubjectT]):
    """The gaps of subjects of one kind; `look` returns the current gaps of one."""

    def __init__(
        self,
        look: Callable[[SubjectT], Iterable[Gap]],
        index: GapIndex,
        apart: Callable[[SubjectT], str] = lambda _: "",
    ) -> None:
        self._look = look
        self._index = index
        self._apart = apart
        self._found: dict[SubjectT, tuple[Gap, ...]] = {}
        """For subjects that have any."""
        self._touched: dict[SubjectT, None] = {}

    def touch(self, subjects: Iterable[SubjectT]) -> None:
        """Mark subjects whose gaps may have changed."""
        self._touched.update(dict.fromkeys(subjects))

    def catch_up(self) -> Iterator[None]:
        """Examine the marked subjects, some with each step."""
        while self._touched:
            for _ in range(min(_SLICE, len(self._touched))):
                self._look_at(self._touched.popitem()[0])
            yield

    @property
    def is_behind(self) -> bool:
        """Whether any subject is marked."""
        return bool(self._touched)

    def _look_at(self, subject: SubjectT) -> None:
        try:
            gaps = tuple(self._look(subject))
        except HeadwaterError:  # the store does not answer: the next reader tries again
            self._touched[subject] = None
            raise
        before = self._found.pop(subject, ())
        if gaps:
            self._found[subject] = gaps
        if gaps != before:
            apart = self._apart(subject)
            for gap in before:
                self._index.take(gap, apart)
            for gap in gaps:
                self._index.put(gap, apart)


class Longest(NamedTuple):
    """The job's run that took longest to complete."""

    took_us: int
    run_id: str


class KnownGaps:
    """All gaps of a graph. Nothing is examined before they are first asked for."""

    def __init__(self, graph: Graph, content: ContentReader) -> None:
        self._graph = graph
        self._content = content
        self._index = GapIndex()
        self._names: GapsBySubject[FactKey] = GapsBySubject(self._at_name, self._index, repr)
        self._runs: GapsBySubject[str] = GapsBySubject(self._at_run, self._index)
        self._jobs: GapsBySubject[JobId] = GapsBySubject(self._at_job, self._index)
        self._datasets: GapsBySubject[DatasetId] = GapsBySubject(self._at_dataset, self._index)
        self._started: set[str] = set()
        """The runs with a START event."""
        self._is_begun = self._has_starts = False
        self._going_on: dict[str, None] = {}
        """The runs without a terminal event."""
        self._expected: dict[JobId, Expected] = {}
        self._longest: dict[JobId, Longest] = {}
        """For jobs with runs still going on."""
        self._runs_of: dict[JobId, int] = {}
        self.runs: Counter[str] = Counter()
        """The number of runs per namespace."""

    # Updates

    def begin(self) -> bool:
        """Track events from now on; returns whether `set_started` must still be called."""
        self._is_begun = True
        return self.wants_starts

    def set_started(self, run_ids: Iterable[str]) -> None:
        """Provide the runs, of those known at `begin`, that have a START event; needed before anything is examined."""
        self._started.update(run_ids)
        if not self._has_starts:
            self._has_starts = True
            self._runs.touch(self._graph.possible_keys().runs)
            self.touch_all()

    @property
    def wants_starts(self) -> bool:
        """Whether `set_started` must still be called."""
        return not self._has_starts

    def touch_all(self) -> None:
        """Mark everything: names may have been joined or split, or nodes deleted."""
        if self._is_begun:
            self._names.touch(self._graph.quarantined)
            keys = self._graph.possible_keys()
            self._jobs.touch(keys.jobs)
            datasets = [*keys.datasets]
            self._datasets.touch(chain(datasets, self._graph.placed(datasets)))

    def touch_facts(self, facts: Sequence[Fact], runs: Iterable[str]) -> None:
        """Mark what these facts, which the graph just learned, say about runs and quarantined names."""
        if not self._is_begun:
            return
        for fact in facts:
            match fact:
                case RunTimes(run_id=run_id, state=(_, _, "START")):
                    self._started.add(run_id)
                case Quarantined():
                    self._names.touch([fact.key])
        self._runs.touch(runs)

    def touch(self, jobs: Iterable[JobId], datasets: Iterable[DatasetId], *, is_renamed: bool, is_moved: bool) -> None:
        """Mark the nodes that an event touched, datasets by shown names.

        `is_renamed`: shown names may have changed. `is_moved`: names may belong to another dataset, or runs to another
        job.
        """
        if not self._is_begun:
            return
        graph = self._graph
        for name in graph.each_once(datasets):
            self._datasets.touch(graph.identities.members(name))
            self._jobs.touch(graph.writers(name))
            if is_renamed:
                self._jobs.touch(graph.readers(name))
                for target in graph.known_to_be_fed_by(name):
                    self._jobs.touch(graph.writers(target))
        for job in jobs:
            self._expected.pop(job, None)
            self._jobs.touch([job])
        if is_moved:
            self._names.touch(graph.quarantined)
            self._longest.clear()

    def catch_up(self) -> Iterator[None]:
        """Examine everything marked, some with each step."""
        parts: tuple[GapsBySubject[Any], ...] = (self._runs, self._jobs, self._datasets, self._names)
        while any(part.is_behind for part in parts):
            for part in parts:
                yield from part.catch_up()

    def sort(self) -> Iterator[None]:
        """Sort the known gaps, some with each step."""
        return self._index.sort()

    def _at_name(self, key: FactKey) -> Iterator[Gap]:
        return coverage.gap_of_name(self._graph, self._graph.quarantined[key])

    def _at_run(self, run_id: str) -> Iterable[Gap]:
        run = self._graph.runs.get(run_id)
        if run is None:
            return ()  # in a past: it began since
        if coverage.is_in_progress(self._graph, run):
            self._going_on[run_id] = None
        else:
            self._going_on.pop(run_id, None)
        if run.of_job is not None and (longest := self._longest.get(run.of_job.job)) is not None:
            took_us = coverage.took_us(run)
            if took_us >= longest.took_us:
                self._longest[run.of_job.job] = Longest(took_us, run_id)
            elif run_id == longest.run_id:
                del self._longest[run.of_job.job]  # it took less after all
        return coverage.gaps_of_run(self._graph, run_id, has_start=run_id in self._started, content=self._content)

    def _at_job(self, job: JobId) -> Iterable[Gap]:
        if job not in self._graph.jobs:
            return ()  # known by an edit only, or in a past only since
        runs = len(self._graph.jobs[job].runs)
        self.runs[job.namespace] += runs - self._runs_of.get(job, 0)
        self._runs_of[job] = runs
        return coverage.gaps_of_job(self._graph, job)

    def _at_dataset(self, name: DatasetId) -> Iterator[Gap]:
        return coverage.gap_of_dataset(self._graph, name)

    # Queries

    @property
    def counts(self) -> Mapping[tuple[str, GapKind], int]:
        """The number of gaps by namespace and kind, without those of silence."""
        return self._index.counts

    def newest_first(self, kind: GapKind, namespace: str | None) -> Iterator[Gap]:
        """The gaps of a kind in a namespace, or in all (None), without those of silence."""
        return self._index.newest_first(kind, namespace)

    def silent(self, now_us: int, expects: Callable[[JobId], Expected]) -> Iterator[Gap | None]:
        """For each run going on, the gap that its silence is at that time; `expects` is called once per job."""
        for run_id in [*self._going_on]:
            run = self._graph.runs[run_id]
            job = None if run.of_job is None else run.of_job.job
            if job is not None:
                if job not in self._expected:
                    self._expected[job] = expects(job)
                yield coverage.gap_of_silence(self._graph, run_id, self._expected[job], self._longest_of(job), now_us)

    def _longest_of(self, job: JobId) -> int:
        longest = self._longest.get(job)
        if longest is None:
            runs = self._graph.runs
            took = ((coverage.took_us(runs[run_id]), run_id) for run_id in self._graph.jobs[job].runs)
            longest = self._longest[job] = Longest(*max(took, default=(0, "")))
        return longest.took_us
