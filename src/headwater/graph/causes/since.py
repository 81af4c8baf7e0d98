"""The run of a job since which a state has not changed, by the reports of earlier runs."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from headwater.graph.causes.further_back import OlderRuns
from headwater.graph.causes.record import Record
from headwater.graph.causes.visit import Visit

ValueT = TypeVar("ValueT")

COMPARED: Final = 5
"""Runs before a change that show whether a state is usually stable."""


class Turn(NamedTuple, Generic[ValueT]):
    """The run that reported something else than the run before it, and both values; all runs since agree with it."""

    run: Record
    value: ValueT
    before: Record
    value_before: ValueT
    former: Sequence[ValueT]
    """The values that the runs before the change reported, newest first."""
    is_far: bool = False
    """It is further back than the ten runs that each run is compared with."""


class Reading(NamedTuple, Generic[ValueT]):
    """What is read of runs, and how two values are compared."""

    value_of: Callable[[Record], ValueT | None]
    """None: the run does not report it."""
    are_same: Callable[[ValueT, ValueT], bool]
    are_alike: Callable[[ValueT, ValueT], bool]
    """As `are_same`, or the same in another spelling."""

    def of(self, records: Sequence[Record]) -> Iterator[tuple[Record, ValueT]]:
        """Those of the runs that report it."""
        return ((record, value) for record in records if (value := self.value_of(record)) is not None)


def last_turn(visit: Visit, older: OlderRuns, reading: Reading[ValueT], value: ValueT) -> Turn[ValueT] | None:
    """The newest of the visited run and those it is compared with whose value differs from the run before it.

    If none of the ten differs, the older ones are searched. None: no run's value differs, or the current value, after
    some runs, was also reported before the change: it only came back.
    """
    now, earlier = (visit.record, value), [*reading.of(visit.earlier)]
    index = next((index for index, (_, each) in enumerate(earlier) if not reading.are_same(value, each)), None)
    if index is None:
        return _far_turn(now, earlier, older, reading) if earlier else None
    if reading.are_alike(value, earlier[index][1]):
        return None
    former = [each for _, each in earlier[index:]]
    if index > 0 and any(reading.are_alike(value, each) for each in former):
        return None
    return Turn(*(now if index == 0 else earlier[index - 1]), *earlier[index], former)


def _far_turn(
    now: tuple[Record, ValueT],
    earlier: Sequence[tuple[Record, ValueT]],
    older: OlderRuns,
    reading: Reading[ValueT],
) -> Turn[ValueT] | None:
    oldest = older.oldest()
    value = None if oldest is None else reading.value_of(oldest)
    if oldest is None or value is None or reading.are_alike(now[1], value):
        return None

    def is_same(record: Record) -> bool | None:
        value = reading.value_of(record)
        return None if value is None else reading.are_alike(now[1], value)

    found = older.boundary(oldest, is_same)
    records = [record for _, record in islice(found.former, COMPARED)]
    former = [*reading.of(records or [found.before])]
    if any(reading.are_alike(now[1], value) for _, value in former):
        return None
    first = earlier[-1] if found.after is None else next(reading.of([found.after]))
    return Turn(*first, *former[0], [value for _, value in former], is_far=True)
