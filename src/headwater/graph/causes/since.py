"""Since which run of a job something has been as it is now, by what earlier runs reported."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from headwater.graph.causes.record import Record

ToldT = TypeVar("ToldT")


class Turn(NamedTuple, Generic[ToldT]):
    """The run that reported something else than the run before it, and both values; all runs since agree with it."""

    run: Record
    told: ToldT
    before: Record
    told_before: ToldT
    former: Sequence[ToldT]
    """What the runs before the change reported, newest first."""


def last_turn(
    now: tuple[Record, ToldT],
    earlier: Sequence[tuple[Record, ToldT]],
    are_same: Callable[[ToldT, ToldT], bool],
    are_alike: Callable[[ToldT, ToldT], bool],
) -> Turn[ToldT] | None:
    """The newest of these runs, given newest first, whose value differs from the run before it.

    None: no run's value differs, or the current value, after some runs, was also reported before the change: it only
    came back.
    """
    place = next((place for place, (_, told) in enumerate(earlier) if not are_same(now[1], told)), None)
    if place is None or are_alike(now[1], earlier[place][1]):
        return None
    former = [told for _, told in earlier[place:]]
    if place > 0 and any(are_alike(now[1], told) for told in former):
        return None
    return Turn(*(now if place == 0 else earlier[place - 1]), *earlier[place], former)
