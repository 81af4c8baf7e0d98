"""Since which run of a job something is as it is now, by what the runs before told."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from headwater.graph.causes.record import Record

ToldT = TypeVar("ToldT")


class Turn(NamedTuple, Generic[ToldT]):
    """A run that told something else than the one before it, and what each told; since then all told the same."""

    run: Record
    told: ToldT
    before: Record
    told_before: ToldT
    former: Sequence[ToldT]
    """What the runs before the turn told, newest first."""


def last_turn(
    now: tuple[Record, ToldT],
    earlier: Sequence[tuple[Record, ToldT]],
    are_same: Callable[[ToldT, ToldT], bool],
    are_alike: Callable[[ToldT, ToldT], bool],
) -> Turn[ToldT] | None:
    """The newest of these runs, given newest first, that told something else than the one before it.

    None: all told the same, as far back as they told it in the same words; or what is told now for some runs was told
    before the turn too, so it only came back.
    """
    place = next((place for place, (_, told) in enumerate(earlier) if not are_same(now[1], told)), None)
    if place is None or are_alike(now[1], earlier[place][1]):
        return None
    former = [told for _, told in earlier[place:]]
    if place > 0 and any(are_alike(now[1], told) for told in former):
        return None
    return Turn(*(now if place == 0 else earlier[place - 1]), *earlier[place], former)
