"""Things in order, and times by group: kept in step with changes, and brought up to date when they are asked for."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, Generic, TypeVar

from headwater.model.facts import Seen

ThingT = TypeVar("ThingT", bound=Hashable)

Membership = tuple[Iterable[str], Seen]
"""The groups that a member is in, and when it was heard of."""

_FEW: Final = 64
"""Things that come and go one by one; with more, all are sorted again, which costs some 10 ms for 100,000."""


class Ordered(Generic[ThingT]):
    """A set of things that can be compared, in their order."""

    def __init__(self) -> None:
        self._order: list[Any] = []
        self._changes: dict[ThingT, bool] = {}
        """What came (true) or went since."""

    def add(self, thing: ThingT) -> None:
        """Take it in."""
        self._changes[thing] = True

    def remove(self, thing: ThingT) -> None:
        """Leave it out from now on."""
        self._changes[thing] = False

    def items(self) -> Sequence[ThingT]:
        """All of them, in order; not to be changed, and to be read before anything comes or goes."""
        if len(self._changes) > _FEW:
            self._order = [thing for thing in self._order if thing not in self._changes]
            self._order += (thing for thing, is_in in self._changes.items() if is_in)
            self._order.sort()
        else:
            for thing, is_in in self._changes.items():
                self._place(thing, is_in=is_in)
        self._changes.clear()
        return self._order

    def _place(self, thing: ThingT, *, is_in: bool) -> None:
        place = bisect_left(self._order, thing)
        was_in = place < len(self._order) and self._order[place] == thing
        if is_in and not was_in:
            self._order.insert(place, thing)
        elif was_in and not is_in:
            del self._order[place]


class Spans:
    """For each group from when to when its members were heard of.

    `members` gives every member's groups and times, now: what a group loses at its ends is worked out anew from these.
    """

    def __init__(self, members: Callable[[], Iterable[Membership]]) -> None:
        self._members = members
        self._times: dict[str, Seen] = {}
        self._shrunk: set[str] = set()

    def change(self, before: Membership | None, after: Membership | None) -> None:
        """A member is in other groups by now, or was heard of at other times; None: there is no such member."""
        if before is not None:
            groups, seen = before
            kept = () if after is None or after[1].union(seen) != after[1] else after[0]
            self._shrunk.update(group for group in groups if group not in kept and self._is_at_end(group, seen))
        if after is not None:
            groups, seen = after
            for group in groups:
                known = self._times.get(group)
                self._times[group] = seen if known is None else known.union(seen)

    def _is_at_end(self, group: str, seen: Seen) -> bool:
        known = self._times[group]
        return seen.first_us <= known.first_us or seen.last_us >= known.last_us

    def times(self) -> dict[str, Seen]:
        """By group; not to be changed."""
        if self._shrunk:
            for group in self._shrunk:
                self._times.pop(group, None)
            for groups, seen in self._members():
                for group in self._shrunk.intersection(groups):
                    known = self._times.get(group)
                    self._times[group] = seen if known is None else known.union(seen)
            self._shrunk.clear()
        return self._times
