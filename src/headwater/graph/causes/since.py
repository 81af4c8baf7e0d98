"""Since which run of a job something has been as it is now, by what earlier runs reported."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from headwater.graph.causes.record import Record

ValueT = TypeVar("ValueT")


class Turn(NamedTuple, Generic[ValueT]):
    """The run that reported something else than the run before it, and both values; all runs since agree with it."""

    run: Record
    value: ValueT
    before: Record
    value_before: ValueT
    former: Sequence[ValueT]
    """What the runs before the change reported, newest first."""


def last_turn(
    now: tuple[Record, ValueT],
    earlier: Sequence[tuple[Record, ValueT]],
    are_same: Callable[[ValueT, ValueT], bool],
    are_alike: Callable[[ValueT, ValueT], bool],
) -> Turn[ValueT] | None:
    """The newest of these runs, given newest first, whose value differs from the run before it.

    None: no run's value differs, or the current value, after some runs, was also reported before the change: it only
    came back.
    """
    place = next((place for place, (_, value) in enumerate(earlier) if not are_same(now[1], value)), None)
    if place is None or are_alike(now[1], earlier[place][1]):
        return None
    former = [value for _, value in earlier[place:]]
    if place > 0 and any(are_alike(now[1], value) for value in former):
        return None
    return Turn(*(now if place == 0 else earlier[place - 1]), *earlier[place], former)
