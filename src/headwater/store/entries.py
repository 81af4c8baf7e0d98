"""Log entries: what goes into the log, and what is read from it."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import Final, Literal, NamedTuple, TypeVar

from headwater.errors import InvalidEventError
from headwater.model.edits import EditEntry, named, parse_edit
from headwater.model.events import DatasetEvent, Event, RunEvent, parse_event
from headwater.model.extract import facts
from headwater.model.facts import Fact
from headwater.model.names import GraphNode
from headwater.model.nodes import Arrival
from headwater.signing.erasure import is_committed
from headwater.signing.leaf import Found, Kind, Seal, seal
from headwater.signing.verify import Verdict
from headwater.store.packing import packed

log = logging.getLogger(__name__)

Read = TypeVar("Read")

EDIT: Literal["EDIT"] = "EDIT"
"""The type of an entry of edits."""
WITHOUT_RUN: Final = frozenset({EDIT, "JOB", "DATASET"})
"""The types of entries without a run."""


class Entry(NamedTuple):
    """An event or edits to be stored, with what the signature proved when it came.

    It holds only what the store needs of an event, because it may come from another process.
    """

    digest: bytes
    event_us: int
    event_type: str
    """That of a run event; `JOB`, `DATASET` or `EDIT` for the others."""
    run_id: str | None
    verdict: Verdict
    key_id: str | None
    received_us: int
    """Microseconds since 1970, UTC."""
    frame: bytes
    """The raw bytes, packed."""
    facts: tuple[Fact, ...]
    """The facts of an event; those of edits depend on their position in the log."""
    named: tuple[GraphNode, ...]
    edits: EditEntry | None
    seal: Seal | None = None
    """Its leaf in the tree; None: the store makes it, on the writer's thread."""


def entry_of(
    event: Event | EditEntry, verdict: Verdict, key_id: str | None, received_us: int, salt: bytes | None = None
) -> Entry:
    """Compress, extract facts and seal, so that the writer's thread need not.

    `salt` are random bytes for the leaf; without them the store makes the leaf.
    """
    entry = _unsealed(event, verdict, key_id, received_us)
    if salt is None:
        return entry
    spans = event.facet_spans if isinstance(event, RunEvent) else None
    return entry._replace(seal=seal(event.raw, found(entry.event_type, received_us, verdict, key_id), salt, spans))


def found(event_type: str, received_us: int, verdict: str, key_id: str | None) -> Found:
    """The contents of an entry's leaf besides its bytes, from the columns of its log row."""
    return Found(kind_of(event_type), received_us, verdict, key_id)


def kind_of(event_type: str) -> Kind:
    """The kind in the leaf of an entry of that type."""
    return "edit" if event_type == EDIT else "event"


def _unsealed(event: Event | EditEntry, verdict: Verdict, key_id: str | None, received_us: int) -> Entry:
    run_id = event.run_id if isinstance(event, RunEvent) else None
    frame = packed(event.raw)
    if isinstance(event, EditEntry):
        return Entry(*_stamped(event), EDIT, None, verdict, key_id, received_us, frame, (), (), event)
    event_facts = facts(event, Arrival(received_us, verdict, key_id))
    names = named(event, event_facts)
    return Entry(
        *_stamped(event), type_of(event), run_id, verdict, key_id, received_us, frame, event_facts, names, None
    )


def _stamped(event: Event | EditEntry) -> tuple[bytes, int]:
    return event.stamp.digest, event.stamp.time_us


def type_of(event: Event | EditEntry) -> str:
    """The type that it has in the log."""
    if isinstance(event, RunEvent):
        return event.event_type
    if isinstance(event, EditEntry):
        return EDIT
    return "DATASET" if isinstance(event, DatasetEvent) else "JOB"


class Stored(NamedTuple):
    """An event's index in the log; `facts` are what it added, none if its bytes were stored before."""

    log_index: int
    is_new: bool
    facts: tuple[Fact, ...]


class LoggedEvent(NamedTuple):
    """An event as the log has it; times in microseconds since 1970, UTC."""

    log_index: int
    digest: bytes
    received_us: int
    event_us: int
    event_type: str
    verdict: Verdict
    key_id: str | None
    raw: bytes

    def matches_bytes(self, event: "Event | EditEntry | None", run_id: str | None) -> bool:
        """Whether its row has the event time and the run of its bytes; `run_id` is the row's.

        `event` is what the bytes parse to today. True also if they would be refused, as that cannot be checked.
        """
        reported_run_id = event.run_id if isinstance(event, RunEvent) else None
        return event is None or (event.stamp.time_us, reported_run_id) == (self.event_us, run_id)

    def is_intact_at(self, log_index: int, sealed: Seal) -> bool:
        """Whether it is the entry at that log index, and its bytes match its digest and its leaf's commitment."""
        return (
            self.log_index == log_index
            and sha256(self.raw).digest() == self.digest
            and is_committed(self.raw, kind_of(self.event_type), sealed.salt, sealed.commitment)
        )


def parsed(event_type: str, raw: bytes) -> Event | EditEntry:
    """The event or edits with these bytes.

    Raises:
        InvalidEventError: it was accepted once, and would be refused today.
    """
    return parse_edit(raw) if event_type == EDIT else parse_event(raw)


def if_readable(read: Callable[[], Read]) -> Read | None:
    """The result of reading an entry of the log; None if it would be refused today.

    Likewise for an unexpected error, which is logged and must not affect other entries.
    """
    try:
        return read()
    except InvalidEventError:
        return None
    except MemoryError:
        raise
    except Exception:
        log.exception("cannot read a log entry: internal error")
        return None


def as_today(event_type: str, raw: bytes) -> Event | EditEntry | None:
    """The event or edits with these bytes; None if they were accepted once, and would be refused today."""
    return if_readable(lambda: parsed(event_type, raw))


@lru_cache(maxsize=16)  # building a past reads them twice, and the next past some of the same
def facts_of(logged: LoggedEvent) -> tuple[Fact, ...]:
    """The facts of an event in the log; none if it would be refused today."""
    event = as_today(logged.event_type, logged.raw)
    if not isinstance(event, Event):
        return ()
    return if_readable(lambda: facts(event, Arrival(logged.received_us, logged.verdict, logged.key_id))) or ()


def entry_again(logged: LoggedEvent, sealed: Seal) -> Entry:
    """A logged entry, to be stored in another log; an event that would be refused today has no facts there."""
    entry = entry_today(logged)
    if entry is None:
        _, digest, received_us, event_us, event_type, verdict, key_id, raw = logged
        frame = packed(raw)
        return Entry(digest, event_us, event_type, None, verdict, key_id, received_us, frame, (), (), None, sealed)
    return entry._replace(seal=sealed)


def entry_today(logged: LoggedEvent, *, keep_raw: bool = True) -> Entry | None:
    """A logged entry as it would be stored today, optionally without its bytes; None if it would be refused."""
    _, _, received_us, _, event_type, verdict, key_id, raw = logged

    def again() -> Entry:
        event = parsed(event_type, raw)
        return entry_of(event if keep_raw else replace(event, raw=b""), verdict, key_id, received_us)

    return if_readable(again)
