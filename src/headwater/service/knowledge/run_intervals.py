"""An index of runs by the interval from their first to their last event, to find those that span a given time."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from operator import itemgetter
from typing import Final

from headwater.graph.records import Run
from headwater.model.merging import Seen
from headwater.service.tallies.ordered import Ordered

_SLICE: Final = 2_000
"""Runs indexed per step: a few milliseconds' work."""


class RunIntervals:
    """The runs of a graph in buckets by interval length (powers of two), each ordered by the last event.

    A run that lasted less than a minute can span a time only if its last event is within the minute after that time.
    The index is built when it is first asked for.
    """

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self._runs = runs
        self._lasts: dict[int, Ordered[tuple[int, str]]] = defaultdict(Ordered)
        self._waiting: list[str] | None = None
        """The runs still to be indexed; None: the index was never asked for."""

    def seen(self, run_id: str) -> Seen | None:
        """A run's first and last event, from the graph; None if it has none, or if the index is not in use."""
        run = None if self._waiting is None else self._runs.get(run_id)
        return None if run is None or run.times is None else run.times.seen

    def change(self, run_id: str, before: Seen | None, after: Seen | None) -> None:
        """Move a run whose interval changed."""
        if before != after:
            if before is not None:
                (order := self._lasts[_length(before)]).remove((before.last_us, run_id))
                _bound(order)
            if after is not None:
                (order := self._lasts[_length(after)]).add((after.last_us, run_id))
                _bound(order)

    @property
    def size(self) -> int:
        """How many entries are held, including pending ones of superseded intervals."""
        return sum(order.size for order in self._lasts.values())

    def catch_up(self) -> Iterator[None]:
        """Index all runs unless that was done, some with each step."""
        if self._waiting is None:
            self._waiting = list(self._runs)
        while self._waiting:
            for run_id in self._waiting[-_SLICE:]:
                self.change(run_id, None, self.seen(run_id))
            del self._waiting[-_SLICE:]
            yield

    def silent_after(self, time_us: int) -> int:
        """How many runs have no event after that time; all must be indexed."""
        later = (len(order) - bisect_right(order, time_us, key=itemgetter(0)) for order in self._orders())
        return len(self._runs) - sum(later)

    def after(self, time_us: int) -> Iterator[str]:
        """The runs with an event after that time, in no order; all must be indexed."""
        for order in self._orders():
            yield from (run_id for _, run_id in order[bisect_right(order, time_us, key=itemgetter(0)) :])

    def back_from(self, time_us: int) -> Iterator[tuple[int, str]]:
        """The runs without an event after that time, as (last event's time, run id), latest first."""
        return merge(*(_back_from(order, time_us) for order in self._orders()), reverse=True)

    def _orders(self) -> Iterator[Sequence[tuple[int, str]]]:
        return map(Ordered.items, self._lasts.values())

    def across(self, time_us: int) -> Iterator[str]:
        """The runs with events both up to that time and after it; all must be indexed."""
        for length, lasts in self._lasts.items():
            order = lasts.items()
            begin, end = (bisect_right(order, each, key=itemgetter(0)) for each in (time_us, time_us + (1 << length)))
            for _, run_id in order[begin:end]:
                seen = self.seen(run_id)
                if seen is not None and seen.first_us <= time_us:
                    yield run_id


def _bound(order: Ordered[tuple[int, str]]) -> None:
    """Apply pending changes where nothing reads the order: a run with events all day would leave an entry for each."""
    if order.is_mostly_pending:
        order.items()


def _back_from(order: Sequence[tuple[int, str]], time_us: int) -> Iterator[tuple[int, str]]:
    end = bisect_right(order, time_us, key=itemgetter(0))
    return (order[position] for position in range(end - 1, -1, -1))


def _length(seen: Seen) -> int:
    return (seen.last_us - seen.first_us).bit_length()
