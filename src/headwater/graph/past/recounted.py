"""Edges as of a time, derived from current ones by leaving out the runs since: most runs need not be examined."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from headwater.graph.records import Edge, EvidenceKey, Run, RunEnd
from headwater.model.events import Direction
from headwater.model.merging import Seen
from headwater.model.names import DatasetId
from headwater.model.times import BEFORE_ALL_US

SeenIn = Callable[[Run], Seen | None]
"""When a run reported something; None: it never did."""


@dataclass(frozen=True)
class RunsBySide:
    """All runs behind some edges, by whether they had all their events by some time (`before`), or later (`since`).

    Runs with events on both sides are `again`, as are all others that are folded again.
    """

    until_us: int
    again: Sequence[Run]
    """As they are now."""
    before: Callable[[], Sequence[Run]]
    before_backwards: Callable[[], Iterable[Run]]
    """The same; the latest last event first."""
    count_before: int
    since: Callable[[], Sequence[Run]]
    count_since: int

    @cached_property
    def _before(self) -> Sequence[Run]:
        return self.before()

    @cached_property
    def _since(self) -> Sequence[Run]:
        return self.since()

    def recount(self, edge: Edge, seen_in: SeenIn) -> Edge | None:
        """The edge as the runs before report it; None: none of them does.

        `edge` is the current one, from all of these runs and nothing else.
        """
        again = [seen for run in self.again if (seen := seen_in(run)) is not None]
        since = self._count_since(edge, seen_in)
        if since is None or any(seen.first_us <= edge.seen.first_us for seen in again):
            return self._count_before(seen_in)
        count = edge.runs - len(again) - since
        if not count:
            return None
        is_last_before = edge.seen.last_us <= self.until_us and all(seen.last_us < edge.seen.last_us for seen in again)
        return Edge(Seen(edge.seen.first_us, edge.seen.last_us if is_last_before else self._last_us(seen_in)), count)

    def _count_since(self, edge: Edge, seen_in: SeenIn) -> int | None:
        """How many runs reported the edge only since; None: it is faster to examine those before."""
        if edge.seen.last_us <= self.until_us:
            return 0
        if edge.runs == len(self.again) + self.count_before + self.count_since:
            return self.count_since  # as every run reports it
        if self.count_since > self.count_before:
            return None
        return sum(seen_in(run) is not None for run in self._since)

    def _last_us(self, seen_in: SeenIn) -> int:
        last_us = BEFORE_ALL_US
        for run in self.before_backwards():
            if last_us >= last_event_us(run):
                break  # no earlier run can have reported it later
            if (seen := seen_in(run)) is not None:
                last_us = max(last_us, seen.last_us)
        return last_us

    def _count_before(self, seen_in: SeenIn) -> Edge | None:
        times = [seen for run in self._before if (seen := seen_in(run)) is not None]
        over = Seen.over(times)
        return None if over is None else Edge(over, len(times))


def edges_by(
    runs: RunsBySide, direction: Direction, edges: Mapping[DatasetId, Edge]
) -> Iterator[tuple[DatasetId, Edge]]:
    """The edges of a job as its runs before report them, from the current ones, which only its runs report."""
    for name, edge in edges.items():
        if (then := runs.recount(edge, partial(_observed, (direction, name)))) is not None:
            yield name, then


def evidence_by(
    runs: RunsBySide, target: DatasetId, evidence: Mapping[EvidenceKey, Edge]
) -> Iterator[tuple[EvidenceKey, Edge]]:
    """The column evidence of the runs before for a dataset, from the current one."""
    for key, edge in evidence.items():
        if (then := runs.recount(edge, partial(_strongest_evidence, target, key))) is not None:
            yield key, then


def _observed(end: RunEnd, run: Run) -> Seen | None:
    return run.observed.get(end)


def _strongest_evidence(target: DatasetId, key: EvidenceKey, run: Run) -> Seen | None:
    """When the run reported the dataset's columns in this facet, unless it has stronger evidence."""
    mine = run.evidence.get(target)
    if mine is None or mine[-1][0][0] != key[0]:  # they are sorted
        return None
    return next((seen for each, seen in mine if each == key), None)


def last_event_us(run: Run) -> int:
    """The time of a run's last event; 0 for one without events."""
    return 0 if run.times is None else run.times.seen.last_us
