"""How facts merge: what all of them share, and the two ways in which most do."""

import copyreg
from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter
from typing import ClassVar, NamedTuple, Self

from headwater.model.events import Stamp

_LAST_US = attrgetter("last_us")


class Seen(NamedTuple):
    """The first and the last time something was seen, microseconds since 1970."""

    first_us: int
    last_us: int

    def union(self, other: "Seen") -> "Seen":
        """The times from the earlier start to the later end."""
        first_us, last_us = self
        if first_us <= other.first_us and other.last_us <= last_us:  # no new one, as mostly; told in half the time
            return self
        return Seen(min(first_us, other.first_us), max(last_us, other.last_us))

    @classmethod
    def over(cls, times: Iterable["Seen | None"]) -> "Seen | None":
        """The times from the earliest start to the latest end; None where there are none."""
        known = [seen for seen in times if seen is not None]
        return cls(min(known).first_us, max(known, key=_LAST_US).last_us) if known else None


def widened(known: Seen | None, seen: Seen) -> Seen:
    """What was known, if anything, and what was seen."""
    return seen if known is None else known.union(seen)


class Merging:
    """What all facts share: facts with equal keys are merged into one."""

    __slots__ = ()
    KEY: ClassVar[tuple[str, ...]]
    """The fields that make up the key."""
    _name: ClassVar[str]
    _values: ClassVar[property]
    """What another process needs to make it again, in the order of the fields."""

    def __init_subclass__(cls) -> None:
        """Prepare the reading of the key and of all that is sent, for each fact of each event."""
        cls._name = cls.__name__
        if hasattr(cls, "KEY"):
            cls.key = property(attrgetter("_name", *cls.KEY))  # type: ignore[method-assign,assignment]
        cls._values = property(attrgetter(*cls.__annotations__))
        copyreg.pickle(cls, attrgetter("__class__", "_values"))  # asked before `__reduce__`, and in a third of its time

    @property
    def key(self) -> tuple[object, ...]:
        """Facts with equal keys merge."""
        raise NotImplementedError


class LastWriter(Merging):
    """Of two facts with one key, the one with the greater stamp holds.

    One event may say two things about one key, by naming a dataset twice: then the greater digest holds.
    """

    __slots__ = ()
    content: bytes
    stamp: Stamp

    def merge(self, other: Self) -> Self:
        """Return the later of the two."""
        return self if (self.stamp, self.content) >= (other.stamp, other.content) else other


class Widening(Merging):
    """Two facts with one key are one fact, seen over both their times."""

    __slots__ = ()
    seen: Seen

    def merge(self, other: Self) -> Self:
        """Return the fact with the times of both."""
        seen = self.seen.union(other.seen)
        # Every subclass is a dataclass, which the type checker cannot know here.
        return self if seen is self.seen else replace(self, seen=seen)  # type: ignore[type-var]
