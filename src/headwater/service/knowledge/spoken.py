"""When runs spoke, in an order in which those are found quickly that spoke both before a time and after it."""

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
"""Runs that are put in their places in one go: some milliseconds' work."""


class Spoken:
    """The runs of a graph by how long they spoke, to the next power of two, and within that by when they spoke last.

    Of runs that spoke for less than a minute only those that did so last within the minute after a time can have begun
    before it. Nothing is put in order before somebody asks for the first time.
    """

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self._runs = runs
        self._lasts: dict[int, Ordered[tuple[int, str]]] = defaultdict(Ordered)
        self._waiting: list[str] | None = None
        """The runs that are still to be put in their places; None: nobody has asked."""

    def seen(self, run_id: str) -> Seen | None:
        """From when to when a run spoke, as the graph has it; None: it never did, or nobody asks."""
        run = None if self._waiting is None else self._runs.get(run_id)
        return None if run is None or run.times is None else run.times.seen

    def change(self, run_id: str, before: Seen | None, after: Seen | None) -> None:
        """Note that a run spoke again."""
        if before != after:
            if before is not None:
                (order := self._lasts[_length(before)]).remove((before.last_us, run_id))
                _bound(order)
            if after is not None:
                (order := self._lasts[_length(after)]).add((after.last_us, run_id))
                _bound(order)

    @property
    def size(self) -> int:
        """How many entries are held, also of what runs had told before they spoke again."""
        return sum(order.size for order in self._lasts.values())

    def catch_up(self) -> Iterator[None]:
        """Put all runs in their places, some with each step, unless that was done."""
        if self._waiting is None:
            self._waiting = list(self._runs)
        while self._waiting:
            for run_id in self._waiting[-_SLICE:]:
                self.change(run_id, None, self.seen(run_id))
            del self._waiting[-_SLICE:]
            yield

    def silent_after(self, time_us: int) -> int:
        """How many runs have not spoken after that time, once all are in their places."""
        later = (len(order) - bisect_right(order, time_us, key=itemgetter(0)) for order in self._orders())
        return len(self._runs) - sum(later)

    def after(self, time_us: int) -> Iterator[str]:
        """The runs that have spoken after that time, once all are in their places; in no order."""
        for order in self._orders():
            yield from (run_id for _, run_id in order[bisect_right(order, time_us, key=itemgetter(0)) :])

    def back_from(self, time_us: int) -> Iterator[tuple[int, str]]:
        """The runs that have not spoken after that time, the last one first, each with when that was."""
        return merge(*(_back_from(order, time_us) for order in self._orders()), reverse=True)

    def _orders(self) -> Iterator[Sequence[tuple[int, str]]]:
        return map(Ordered.items, self._lasts.values())

    def across(self, time_us: int) -> Iterator[str]:
        """The runs that spoke at that time or before, and after it, once all are in their places."""
        for length, lasts in self._lasts.items():
            order = lasts.items()
            begin, end = (bisect_right(order, each, key=itemgetter(0)) for each in (time_us, time_us + (1 << length)))
            for _, run_id in order[begin:end]:
                seen = self.seen(run_id)
                if seen is not None and seen.first_us <= time_us:
                    yield run_id


def _bound(order: Ordered[tuple[int, str]]) -> None:
    """Put what waits in its place where nobody asks: a run that speaks all day would leave an entry each time."""
    if order.is_mostly_waiting:
        order.items()


def _back_from(order: Sequence[tuple[int, str]], time_us: int) -> Iterator[tuple[int, str]]:
    end = bisect_right(order, time_us, key=itemgetter(0))
    return (order[place] for place in range(end - 1, -1, -1))


def _length(seen: Seen) -> int:
    return (seen.last_us - seen.first_us).bit_length()
