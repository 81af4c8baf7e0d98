"""The run of a job since which a state has not changed, by the reports of earlier runs."""

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
    """The values that the runs before the change reported, newest first."""


def last_turn(
    now: tuple[Record, ValueT],
    earlier: Sequence[tuple[Record, ValueT]],
    are_same: Callable[[ValueT, ValueT], bool],
    are_alike: Callable[[ValueT, ValueT], bool],
) -> Turn[ValueT] | None:
    """The newest of these runs (passed newest first) whose value differs from the run before it.

    None: no run's value differs, or the current value, after some runs, was also reported before the change: it only
    came back.
    """
    index = next((index for index, (_, value) in enumerate(earlier) if not are_same(now[1], value)), None)
    if index is None or are_alike(now[1], earlier[index][1]):
        return None
    former = [value for _, value in earlier[index:]]
    if index > 0 and any(are_alike(now[1], value) for value in former):
        return None
    return Turn(*(now if index == 0 else earlier[index - 1]), *earlier[index], former)
