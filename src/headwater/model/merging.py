"""Base classes for the merging of facts: the common base, and the two most frequent merges."""

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
        if first_us <= other.first_us and other.last_us <= last_us:  # the common case, in half the time
            return self
        return Seen(min(first_us, other.first_us), max(last_us, other.last_us))

    @classmethod
    def over(cls, times: Iterable["Seen | None"]) -> "Seen | None":
        """The times from the earliest start to the latest end; None where there are none."""
        known = [seen for seen in times if seen is not None]
        return cls(min(known).first_us, max(known, key=_LAST_US).last_us) if known else None


def widened(known: Seen | None, seen: Seen) -> Seen:
    """The union of both, of which the first may be missing."""
    return seen if known is None else known.union(seen)


class Merging:
    """The base of all facts: facts with equal keys are merged into one."""

    __slots__ = ()
    KEY: ClassVar[tuple[str, ...]]
    """The fields that make up the key."""
    _name: ClassVar[str]
    _values: ClassVar[property]
    """The values that recreate the fact in another process, in field order."""

    def __init_subclass__(cls) -> None:
        """Precompute the access to key and values, which each fact of each event needs."""
        cls._name = cls.__name__
        if hasattr(cls, "KEY"):
            cls.key = property(attrgetter("_name", *cls.KEY))  # type: ignore[method-assign,assignment]
        cls._values = property(attrgetter(*cls.__annotations__))
        copyreg.pickle(cls, attrgetter("__class__", "_values"))  # precedes `__reduce__`, in a third of its time

    @property
    def key(self) -> tuple[object, ...]:
        """Facts with equal keys merge."""
        raise NotImplementedError


class LastWriter(Merging):
    """Of two facts with the same key, the one with the greater stamp wins.

    If one event names a dataset twice, the greater digest wins.
    """

    __slots__ = ()
    content: bytes
    stamp: Stamp

    def merge(self, other: Self) -> Self:
        """Return the later of the two."""
        return self if (self.stamp, self.content) >= (other.stamp, other.content) else other


class Widening(Merging):
    """Two facts with the same key become one, seen over both their times."""

    __slots__ = ()
    seen: Seen

    def merge(self, other: Self) -> Self:
        """Return the fact with the times of both."""
        seen = self.seen.union(other.seen)
        # Every subclass is a dataclass, which the type checker cannot know here.
        return self if seen is self.seen else replace(self, seen=seen)  # type: ignore[type-var]
