"""Things in order, and times by group: kept in step with changes, and brought up to date when they are asked for."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from headwater.model.merging import Seen

ThingT = TypeVar("ThingT", bound=Hashable)

Membership = tuple[Iterable[str], Seen]
"""The groups that a member is in, and when it was heard of."""

_FEW: Final = 64
"""Things that come and go one by one, of however few stand between them."""
_MOST: Final = 512
"""That do so of many: it takes 3 ms of 100,000; to sort all of these again takes 6."""


class Ordered(Generic[ThingT]):
    """A set of things that can be compared, in their order."""

    def __init__(self) -> None:
        self._order: list[Any] = []
        self._is_shared = False
        """Whether another one has the same list, until either changes."""
        self._changes: dict[ThingT, bool] = {}
        """What came (true) or went since."""

    def copy(self) -> "Ordered[ThingT]":
        """The same things; there are two lists of them once something comes or goes."""
        same: Ordered[ThingT] = Ordered()
        self.items()  # put in order once for all copies
        same._order = self._order
        same._is_shared = self._is_shared = True
        return same

    def add(self, thing: ThingT) -> None:
        """Take it in."""
        self._changes[thing] = True

    def remove(self, thing: ThingT) -> None:
        """Leave it out from now on."""
        self._changes[thing] = False

    @property
    def is_mostly_pending(self) -> bool:
        """Whether more came and went since somebody asked than there is in all, be it one thing again and again."""
        return len(self._changes) > _FEW + len(self._order)

    @property
    def size(self) -> int:
        """How much is held: what was there when somebody asked, and what came and went since."""
        return len(self._order) + len(self._changes)

    def items(self) -> Sequence[ThingT]:
        """All of them, in order; not to be changed, and to be read before anything comes or goes."""
        if self._changes and self._is_shared:
            self._order, self._is_shared = self._order.copy(), False
        begin, end = self._changed_between() if len(self._changes) > _FEW else (0, 0)
        if len(self._changes) > min(max(_FEW, (end - begin) // 20), _MOST):
            things = [thing for thing in self._order[begin:end] if thing not in self._changes]
            things += (thing for thing, is_in in self._changes.items() if is_in)
            things.sort()
            self._order[begin:end] = things
        else:
            for thing, is_in in self._changes.items():
                self._place(thing, is_in=is_in)
        self._changes.clear()
        return self._order

    def _changed_between(self) -> tuple[int, int]:
        """From where to where in the order things came or went."""
        changes: Sequence[Any] = [*self._changes]
        return bisect_left(self._order, min(changes)), bisect_right(self._order, max(changes))

    def _place(self, thing: ThingT, *, is_in: bool) -> None:
        place = bisect_left(self._order, thing)
        was_in = place < len(self._order) and self._order[place] == thing
        if is_in and not was_in:
            self._order.insert(place, thing)
        elif was_in and not is_in:
            del self._order[place]


class Spans(Generic[ThingT]):
    """For each group from when to when its members were heard of."""

    def __init__(self) -> None:
        self._firsts: dict[str, Ordered[tuple[int, ThingT]]] = defaultdict(Ordered)
        self._lasts: dict[str, Ordered[tuple[int, ThingT]]] = defaultdict(Ordered)
        self._times: dict[str, Seen] = {}
        self._changed: dict[str, None] = {}
        """The groups of which the times are to be looked up again."""

    def take_over(self, others: "Spans[ThingT]") -> None:
        """Know what others know of the same members."""
        for mine, theirs in ((self._firsts, others._firsts), (self._lasts, others._lasts)):
            mine.update((group, order.copy()) for group, order in theirs.items())
        self._times, self._changed = {**others._times}, {**others._changed}

    def change(self, member: ThingT, before: Membership | None, after: Membership | None) -> None:
        """A member is in other groups by now, or was heard of at other times; None: there is no such member."""
        for groups, seen in (before,) if before is not None else ():
            for group in groups:
                self._firsts[group].remove((seen.first_us, member))
                self._lasts[group].remove((seen.last_us, member))
                self._changed[group] = None
        for groups, seen in (after,) if after is not None else ():
            for group in groups:
                self._firsts[group].add((seen.first_us, member))
                self._lasts[group].add((seen.last_us, member))
                self._changed[group] = None

    def heard_of_after(self, time_us: int, group: str | None = None) -> Iterator[ThingT]:
        """The members of a group, or all, that were heard of after that time; one of several may be given again."""
        orders = self._lasts.values() if group is None else filter(None, [self._lasts.get(group)])
        for order in map(Ordered.items, orders):
            for _, member in order[bisect_right(order, time_us, key=itemgetter(0)) :]:
                yield member

    def times_by(self, time_us: int) -> tuple[dict[str, Seen], set[str]]:
        """By group, of members that were heard of by then for the first time; and the groups with some heard of since.

        In those the last time is that of the members that were not.
        """
        times: dict[str, Seen] = {}
        went_on: set[str] = set()
        for group, order in self._lasts.items():
            lasts, firsts = order.items(), self._firsts[group].items()
            end = bisect_right(lasts, time_us, key=itemgetter(0))
            if firsts:
                times[group] = Seen(firsts[0][0], lasts[end - 1][0] if end else firsts[0][0])
            if end < len(lasts):
                went_on.add(group)
        return times, went_on

    def times(self) -> Mapping[str, Seen]:
        """By group; not to be changed."""
        while self._changed:
            group, _ = self._changed.popitem()
            firsts, lasts = self._firsts[group].items(), self._lasts[group].items()
            if firsts:
                self._times[group] = Seen(firsts[0][0], lasts[-1][0])
            else:
                self._times.pop(group, None)
        return self._times
