"""Which few of a run's events have the same merged facts as all of its events up to any time.

A stream repeats itself: of its thousands of events most report the same facts, only later. Of the events that do, the
first and the last up to a time are enough for all of them. Retained reports, of which each event may have another, do
not count here: rows have those that were not repeated later, and `latest_first` finds the others.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Final

from headwater.model.facts import ChainLink, Content, FacetReport, Fact, JobFacet, RunOfJob, RunTimes
from headwater.model.merging import LastWriter, Widening
from headwater.model.names import DatasetId

_IGNORED: Final = (Content, ChainLink, FacetReport)
"""Contents follow from the other facts, and chain links concern only their own event; see above for reports."""
_TIME: Final = itemgetter(0)
_BYTES_OF_AN_EVENT: Final = 16
_BYTES_OF_A_KIND: Final = 5_000
"""For the keys of its facts."""


class RunEvents:
    """The events of one run, by what they report apart from the time."""

    def __init__(self) -> None:
        self._alike: dict[frozenset[object], _Alike] = {}
        self.newest = -1
        """The greatest log index of an event added."""
        self.datasets: set[DatasetId] = set()
        """Those with retained reports."""

    @property
    def size_bytes(self) -> int:
        """An estimate of its memory."""
        return sum(_BYTES_OF_A_KIND + _BYTES_OF_AN_EVENT * len(alike.times) for alike in self._alike.values())

    def add(self, log_index: int, time_us: int, facts: Iterable[Fact]) -> None:
        """Add an event with its place in the log, its time and its facts; in any order, each once."""
        self.newest = max(self.newest, log_index)
        self.datasets.update(fact.dataset for fact in facts if isinstance(fact, FacetReport))
        reported = frozenset(_apart_from_time(fact) for fact in facts if not isinstance(fact, _IGNORED))
        self._alike.setdefault(reported, _Alike()).add(log_index, time_us)

    def needed(self, until_us: int) -> set[int]:
        """The log indexes of events up to then whose facts merge to the same as those of all, apart from reports."""
        return {log_index for alike in self._alike.values() for log_index in alike.ends(until_us)}

    def count_until(self, until_us: int) -> int:
        """The number of events up to then."""
        return sum(bisect_right(alike.times, until_us) for alike in self._alike.values())

    def latest_first(self, until_us: int) -> Iterator[list[int]]:
        """The log indexes of all events up to then, latest first; those of one time together."""
        each = (alike.backwards(until_us) for alike in self._alike.values())
        for _, together in groupby(merge(*each, key=_TIME, reverse=True), key=_TIME):
            yield [log_index for _, log_index in together]


class _Alike:
    """Events with the same facts apart from the time, by time."""

    __slots__ = ("indexes", "times")

    def __init__(self) -> None:
        self.times = array("q")
        self.indexes = array("q")

    def add(self, log_index: int, time_us: int) -> None:
        place = bisect_right(self.times, time_us)
        self.times.insert(place, time_us)
        self.indexes.insert(place, log_index)

    def ends(self, until_us: int) -> Iterator[int]:
        """The first and the last up to then; all of the same time, as another order decides between these."""
        end = bisect_right(self.times, until_us)
        if end:
            yield from self.indexes[: bisect_right(self.times, self.times[0])]
            yield from self.indexes[bisect_left(self.times, self.times[end - 1]) : end]

    def backwards(self, until_us: int) -> Iterator[tuple[int, int]]:
        """Time and log index of each up to then, latest first."""
        for place in reversed(range(bisect_right(self.times, until_us))):
            yield self.times[place], self.indexes[place]


def _apart_from_time(fact: Fact) -> object:
    """The same for two facts of which the merge depends on nothing but which is earlier and which is later."""
    match fact:
        case RunTimes():
            rank, _, event_type = fact.state
            return fact.key, rank, event_type, fact.started_us is None
        case RunOfJob():
            return fact.key, fact.parent is None, fact.root is None
        case LastWriter() | Widening() | JobFacet():
            return fact.key
    return fact
