"""A minimal set of events with the same merged facts as all events: facts merge, and later ones supersede most.

A stream repeats itself: of its thousands of events, about four are enough.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, Final

from headwater.graph.fold import FactKey
from headwater.model.facts import ChainLink, Content, Fact
from headwater.model.merging import LastWriter

_IGNORED: Final = (Content, ChainLink)
"""Left out: contents follow from the other facts, and chain links concern only their own event."""
_Placed = tuple[int, Any]
"""An event's position in the log, and one of its facts."""


class MinimalEvents:
    """Selects the events that are needed of those added; facts in `_IGNORED` do not count."""

    def __init__(self) -> None:
        self._needed: dict[FactKey, Sequence[_Placed]] = {}

    def add(self, position: int, facts: Iterable[Fact]) -> None:
        """Add the facts of the event at that log position."""
        for fact in facts:
            if not isinstance(fact, _IGNORED):
                self._add(position, fact)

    def _add(self, position: int, fact: Any) -> None:  # noqa: ANN401  facts with the same key have the same type
        key = fact.key
        needed = self._needed.get(key)
        if needed is None:
            self._needed[key] = ((position, fact),)
        elif not isinstance(fact, LastWriter):
            self._needed[key] = _needed_of([*needed, (position, fact)])
        elif fact.merge(needed[0][1]) is fact:
            self._needed[key] = ((position, fact),)

    def positions(self, is_known: Callable[[Fact], bool] = lambda _: False) -> set[int]:
        """The log positions of events whose facts merge to the same as all facts, without those already known."""
        wanted = (needed for needed in self._needed.values() if not is_known(needed[0][1]))
        return {position for needed in wanted for position, _ in needed}


def _needed_of(placed: Sequence[_Placed]) -> Sequence[_Placed]:
    """The facts without which the merge would differ; of two equivalent ones the earlier remains."""
    expected = _merged(placed)
    needed = list(placed)
    for each in reversed(placed):
        others = [other for other in needed if other is not each]
        if others and _merged(others) == expected:
            needed = others
    return needed


def _merged(placed: Sequence[_Placed]) -> Fact:
    merged: Fact = reduce(lambda one, other: one.merge(other), (fact for _, fact in placed))
    return merged
