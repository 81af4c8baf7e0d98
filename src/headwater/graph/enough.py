"""Of many events, a few that say together what all of them say: facts merge, and most are written over by later ones.

A stream tells the same things again and again: of its thousands of events some four are enough.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, Final

from headwater.graph.fold import FactKey
from headwater.model.facts import ChainLink, Content, Fact
from headwater.model.merging import LastWriter

_BESIDE: Final = (Content, ChainLink)
"""What follows from the others, and what each event says of itself alone."""
_Told = tuple[int, Any]
"""The place of an event, and a fact that it tells."""


class Enough:
    """Which are needed of the events that were added; what they say of themselves alone, as links of a chain, aside."""

    def __init__(self) -> None:
        self._needed: dict[FactKey, Sequence[_Told]] = {}

    def add(self, place: int, facts: Iterable[Fact]) -> None:
        """Add the facts of the event at that place of the log."""
        for fact in facts:
            if not isinstance(fact, _BESIDE):
                self._add(place, fact)

    def _add(self, place: int, fact: Any) -> None:  # noqa: ANN401  facts of one key are of one type
        key = fact.key
        needed = self._needed.get(key)
        if needed is None:
            self._needed[key] = ((place, fact),)
        elif not isinstance(fact, LastWriter):
            self._needed[key] = _needed_of([*needed, (place, fact)])
        elif fact.merge(needed[0][1]) is fact:
            self._needed[key] = ((place, fact),)

    def places(self, is_known: Callable[[Fact], bool] = lambda _: False) -> set[int]:
        """The events whose facts merge to the same as those of all, but for those that are known without them."""
        wanted = (needed for needed in self._needed.values() if not is_known(needed[0][1]))
        return {place for needed in wanted for place, _ in needed}


def _needed_of(told: Sequence[_Told]) -> Sequence[_Told]:
    """Those without which the merged fact would be another; of two that say the same the later is left out."""
    whole = _merged(told)
    needed = list(told)
    for each in reversed(told):
        others = [other for other in needed if other is not each]
        if others and _merged(others) == whole:
            needed = others
    return needed


def _merged(told: Sequence[_Told]) -> Fact:
    merged: Fact = reduce(lambda one, other: one.merge(other), (fact for _, fact in told))
    return merged
