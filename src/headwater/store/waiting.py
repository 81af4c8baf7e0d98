"""Facts that wait to be stored: their events stand in the log already, and are acknowledged.

They go into their tables in large transactions without a flush of their own. `folded` says of how many entries of the
log the facts are stored: what a crash takes of the others is folded again from the log.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from headwater.errors import InvalidEventError
from headwater.model.facts import Content, Fact
from headwater.store.connection import Connection
from headwater.store.merged import MergedFacts
from headwater.store.numbers import GivenNumbers

log = logging.getLogger(__name__)

IsWanted = Callable[[], bool]
"""Whether somebody waits to add something."""


@dataclass(slots=True)
class _Folding:
    """Facts on their way into the tables."""

    waiting: Mapping[int, tuple[Fact, ...]]
    until: int
    """Of how many entries the facts are stored after the last step."""
    steps: Iterator[None]


class WaitingFacts:
    """The facts of events, by their places in the log, until they are stored; for whoever writes."""

    def __init__(self, writer: Connection) -> None:
        self._writer = writer
        self._merged = MergedFacts(writer)
        self._waiting: dict[int, tuple[Fact, ...]] = {}
        self._folding: _Folding | None = None
        self.contents: dict[bytes, bytes] = {}
        """Bodies by digest, of contents that wait."""

    @property
    def numbers(self) -> GivenNumbers:
        """The numbers that stand for names and runs in the database."""
        return self._merged.numbers

    def __len__(self) -> int:
        """How many events wait."""
        return len(self._waiting)

    def __getitem__(self, place: int) -> tuple[Fact, ...]:
        """The facts of the event at that place, which waits."""
        return self._waiting[place]

    def first(self, default: int) -> int:
        """The place of the first event that waits."""
        return next(iter(self._waiting), default)

    def add(self, place: int, event_facts: tuple[Fact, ...]) -> None:
        """Have the facts of an event wait."""
        self._waiting[place] = event_facts
        self.contents.update(_contents(event_facts))

    @contextmanager
    def transaction(self, *, is_acknowledged: bool) -> Iterator[None]:
        """Write in one transaction; where it fails, nothing that was begun with counts as written."""
        try:
            with self._writer.transaction(is_acknowledged=is_acknowledged):
                yield
        except BaseException:
            self._merged.forget()
            self._folding = None
            raise

    def are_due(self, at_least: int) -> bool:
        """Whether so many events wait, or some were begun with."""
        return self._folding is not None or len(self._waiting) >= at_least

    def store(self, until: int, is_wanted: IsWanted) -> bool:
        """Store the facts that wait, or go on with those that were begun with; False if it did not come to the end.

        Those that wait are all up to an entry of the log, `until`. Where somebody waits to add something, only some of
        them are stored; they are merged again if it does not come to the end.
        """
        folding = self._folding = self._folding or self._begun(until)
        try:
            with self.transaction(is_acknowledged=False):
                for _ in folding.steps:
                    if is_wanted():
                        return False
        except InvalidEventError:
            self._store_one_by_one(folding)
        self._folding = None
        for place in folding.waiting:
            del self._waiting[place]
        self.contents = {digest: body for each in self._waiting.values() for digest, body in _contents(each)}
        return True

    def _begun(self, until: int) -> _Folding:
        waiting = dict(self._waiting)
        return _Folding(waiting, until, self._stored(waiting, until))

    def _store_one_by_one(self, folding: _Folding) -> None:
        """Event by event: one that the database does not take must not keep the others out."""
        for place, event_facts in folding.waiting.items():
            try:
                self._store_at_once({place: event_facts}, place + 1)
            except InvalidEventError as fault:
                log.error("facts of an event cannot be stored", extra={"log_index": place, "fault": str(fault)})
        self._store_at_once({}, folding.until)

    def _store_at_once(self, waiting: Mapping[int, tuple[Fact, ...]], until: int) -> None:
        with self.transaction(is_acknowledged=False):
            for _ in self._stored(waiting, until):
                pass

    def _stored(self, waiting: Mapping[int, tuple[Fact, ...]], until: int) -> Iterator[None]:
        [(folded,)] = self._writer.execute("SELECT events FROM folded")
        yield from self._merged.add(fact for place, facts in waiting.items() if place >= folded for fact in facts)
        self._writer.execute("UPDATE folded SET events = ? WHERE events < ?", (until, until))


def _contents(event_facts: tuple[Fact, ...]) -> list[tuple[bytes, bytes]]:
    return [(fact.digest, fact.body) for fact in event_facts if type(fact) is Content]
