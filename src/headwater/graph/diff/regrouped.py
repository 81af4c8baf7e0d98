"""Finds the event that joined names into one dataset, or split them, among the events between two graphs."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from headwater.graph.diff.event_content import EventContent
from headwater.graph.records import Reporter
from headwater.model.names import DatasetId
from headwater.model.spelling import normal

OneWith = Callable[[DatasetId], Sequence[DatasetId]]
"""All names of the dataset with this name in a graph."""


class Names(NamedTuple):
    """The names of one dataset in two graphs; the events searched are those that only the later graph knows."""

    was: AbstractSet[DatasetId]
    now: AbstractSet[DatasetId]
    reached: AbstractSet[DatasetId]
    """The names it must have been joined with; mostly all of `now`."""
    declaring: AbstractSet[Reporter]
    """The declarations that used those of its names that are no longer in use."""


def regrouped_at(names: Names, events: Sequence[EventContent], one_before: OneWith, one_after: OneWith) -> int | None:
    """The index of the event by which the dataset had gained these names, and lost all others."""
    positions = [_parted_at(names, events, one_after)] if names.was - names.now else []
    if names.now - names.was:
        position = _joined_at(names, events, one_before)
        positions.append(_entered_at(names, events) if position is None else position)
    return max((position for position in positions if position is not None), default=None)


def _joined_at(names: Names, events: Sequence[EventContent], one_before: OneWith) -> int | None:
    """The first event after which evidence connects all names in `reached`."""
    classes = {name: names.now & {name, *one_before(name)} for name in names.now}
    begin = next(iter(sorted(names.was & names.now)), None)
    for position, event in enumerate(events):
        for one, other in (*event.naming.one, *_spellings(event.naming.used & names.now, names.now)):
            if one in classes and other in classes:
                together = classes[one] | classes[other]
                classes |= dict.fromkeys(together, together)
        if begin is not None and classes[begin] >= names.reached:
            return position
    return None


def _spellings(used: AbstractSet[DatasetId], names: AbstractSet[DatasetId]) -> Iterator[tuple[DatasetId, DatasetId]]:
    return ((one, other) for one in used for other in names if normal(one) == normal(other))


def _entered_at(names: Names, events: Sequence[EventContent]) -> int | None:
    """The first event that makes one of its new names a table of a catalog, else one of its names."""
    for some in (names.now - names.was, names.now):
        words = {DatasetId(name.namespace, name.name.partition(".")[0]) for name in some}
        for position, event in enumerate(events):
            if not (some.isdisjoint(event.tables) and words.isdisjoint(event.naming.engines)):
                return position
    return None


def _parted_at(names: Names, events: Sequence[EventContent], one_after: OneWith) -> int | None:
    """The first event that splits two of its names, claims one for another dataset, or no longer uses it."""
    lost = names.was - names.now
    for position, event in enumerate(events):
        is_parted = any({*pair} <= names.was and pair[1] not in one_after(pair[0]) for pair in event.naming.apart)
        is_claimed = any({*pair} & lost and not {*pair} <= names.was for pair in event.naming.one)
        is_unused = event.declaration in names.declaring and lost.isdisjoint(event.naming.used)
        if is_parted or is_claimed or is_unused:
            return position
    return None
