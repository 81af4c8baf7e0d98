"""The backlog of facts: their events are in the log and acknowledged, their rows are yet to be written.

They are written in large transactions without a flush of their own. The table `folded` holds how many log entries have
their facts stored; after a crash, the rest is folded again from the log.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from headwater.errors import InvalidEventError
from headwater.model.facts import Content, Fact
from headwater.store.connection import Connection
from headwater.store.merged import MergedFacts
from headwater.store.numbers import AssignedNumbers

log = logging.getLogger(__name__)

ShouldYield = Callable[[], bool]
"""Whether the work should stop, since somebody waits to add an event."""


@dataclass(slots=True)
class _Folding:
    """A transaction's worth of facts, partly merged."""

    waiting: Mapping[int, tuple[Fact, ...]]
    until: int
    """The number of log entries whose facts are stored after the last step."""
    steps: Iterator[None]


class FactBacklog:
    """Facts by their event's log index, until they are stored. For the writer's thread."""

    def __init__(self, writer: Connection) -> None:
        self._writer = writer
        self._merged = MergedFacts(writer)
        self._waiting: dict[int, tuple[Fact, ...]] = {}
        self._folding: _Folding | None = None
        self.contents: dict[bytes, bytes] = {}
        """Contents in the backlog, by digest."""

    @property
    def numbers(self) -> AssignedNumbers:
        """The surrogate keys of names and runs."""
        return self._merged.numbers

    def __len__(self) -> int:
        """The number of events in the backlog."""
        return len(self._waiting)

    def __getitem__(self, log_index: int) -> tuple[Fact, ...]:
        """The facts of the event at that log index, which must be in the backlog."""
        return self._waiting[log_index]

    def first(self, default: int) -> int:
        """The lowest log index in the backlog."""
        return next(iter(self._waiting), default)

    def add(self, log_index: int, event_facts: tuple[Fact, ...]) -> None:
        """Add the facts of an event."""
        self._waiting[log_index] = event_facts
        self.contents.update(_contents(event_facts))

    @contextmanager
    def transaction(self, *, is_acknowledged: bool) -> Iterator[None]:
        """Write in one transaction; if it fails, facts partly merged before count as unwritten."""
        try:
            with self._writer.transaction(is_acknowledged=is_acknowledged):
                yield
        except BaseException:
            self._merged.forget()
            self._folding = None
            raise

    def are_due(self, at_least: int) -> bool:
        """Whether the backlog has at least so many events, or some are partly merged."""
        return self._folding is not None or len(self._waiting) >= at_least

    def store(self, until: int, should_yield: ShouldYield) -> bool:
        """Store the backlog, or continue with what is partly merged; returns False if interrupted by `should_yield`.

        `until` is the number of log entries that the backlog reaches. After an interruption the next call continues;
        if that never comes, the facts are merged again, which changes nothing.
        """
        folding = self._folding = self._folding or self._begun(until)
        try:
            with self.transaction(is_acknowledged=False):
                for _ in folding.steps:
                    if should_yield():
                        return False
        except InvalidEventError:
            self._store_one_by_one(folding)
        self._folding = None
        for log_index in folding.waiting:
            del self._waiting[log_index]
        self.contents = {digest: body for each in self._waiting.values() for digest, body in _contents(each)}
        return True

    def _begun(self, until: int) -> _Folding:
        waiting = dict(self._waiting)
        return _Folding(waiting, until, self._stored(waiting, until))

    def _store_one_by_one(self, folding: _Folding) -> None:
        """Store event by event: one that the database rejects must not block the others."""
        for log_index, event_facts in folding.waiting.items():
            try:
                self._store_at_once({log_index: event_facts}, log_index + 1)
            except InvalidEventError as fault:
                log.error("cannot store the facts of an event", extra={"log_index": log_index, "fault": str(fault)})
        self._store_at_once({}, folding.until)

    def _store_at_once(self, waiting: Mapping[int, tuple[Fact, ...]], until: int) -> None:
        with self.transaction(is_acknowledged=False):
            for _ in self._stored(waiting, until):
                pass

    def _stored(self, waiting: Mapping[int, tuple[Fact, ...]], until: int) -> Iterator[None]:
        [(folded,)] = self._writer.execute("SELECT events FROM folded")
        yield from self._merged.add(
            fact for log_index, facts in waiting.items() if log_index >= folded for fact in facts
        )
        self._writer.execute("UPDATE folded SET events = ? WHERE events < ?", (until, until))


def _contents(event_facts: tuple[Fact, ...]) -> list[tuple[bytes, bytes]]:
    return [(fact.digest, fact.body) for fact in event_facts if type(fact) is Content]
