"""The messages between a service and its recorder process.

The process sends `Recorded`, the service all others. Messages are pickled, each prefixed with its length (four bytes).
"""

import pickle
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.service.ingest.reading import Posted, Trust
from headwater.signing.merkle import Frontier, Growth
from headwater.signing.verify import Verdict
from headwater.store.entries import Entry, Stored
from headwater.store.store import Known, WriterHandover
from headwater.store.writer import Outcome

_LENGTH: Final = 4

Ticket = int
"""Correlates an event with its outcome."""


class OpenStore(NamedTuple):
    """The first request: open the store. The answer is what the process knows of the log, or why it cannot open it."""

    handover: WriterHandover
    known: Known | None
    """The log as the service knows it; None if it has not read the store yet."""


class SetTrust(NamedTuple):
    """The keys to trust from now on."""

    is_required: bool
    keys: Mapping[str, bytes]
    revoked_us: Mapping[str, int]

    @classmethod
    def of(cls, trust: Trust) -> "SetTrust":
        """The message for these keys."""
        raw_keys = {key_id: key.public_bytes_raw() for key_id, key in trust.keys.items()}
        return cls(trust.is_required, raw_keys, dict(trust.revoked_us))

    @property
    def trust(self) -> Trust:
        """The keys in the message."""
        keys = {key_id: Ed25519PublicKey.from_public_bytes(raw) for key_id, raw in self.keys.items()}
        return Trust(keys, self.is_required, self.revoked_us)


class ReadAndStore(NamedTuple):
    """Read these events, whose tickets count up from `first`, and store the valid ones.

    If `is_held`, each waits for a `StoreOrForget` once it is read.
    """

    first: Ticket
    events: Sequence[Posted]
    is_held: bool


class StoreOrForget(NamedTuple):
    """Store a held event, or drop it."""

    ticket: Ticket
    is_stored: bool


class StoreRead(NamedTuple):
    """Store these entries, already read; one message for many takes a third of the time of a message each."""

    entries: Sequence[tuple[Ticket, Entry]]


class End(NamedTuple):
    """Store everything sent before this, and end."""


class StoreFacts(NamedTuple):
    """A request: store the facts of all events taken in. The answer is the number of log entries they cover."""


class EmptyRows(NamedTuple):
    """A request: remove the raw bytes from these rows. The answer is None."""

    log_indexes: range


EventOutcome = tuple[Ticket, Verdict | None, Outcome]
"""The outcome of an event; without a verdict it was refused, and did not reach the store."""


class Recorded(NamedTuple):
    """The outcomes of events, what other services stored, and the state of the store."""

    outcomes: Sequence[EventOutcome]
    held: Sequence[tuple[Ticket, Entry]]
    """Events read and held, without their bytes."""
    news: Sequence[Stored]
    growth: Growth
    """The last growth of the tree over the log."""
    head: Frontier
    """The head of the tree over all entries reported so far, including these."""
    folded: int
    """The number of log entries whose facts are stored."""
    fault: str | None


def packed(message: object) -> bytes:
    """A message, prefixed with its length."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(_LENGTH, "big") + body


class MessageBuffer:
    """Assembles messages from received bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def messages(self, received: bytes) -> list[object]:
        """The messages that these bytes complete."""
        self._bytes += received
        messages: list[object] = []
        begin = 0
        while (until := self._end(begin)) is not None:
            messages.append(pickle.loads(self._bytes[begin + _LENGTH : until]))  # noqa: S301  a process of our own's
            begin = until
        del self._bytes[:begin]
        return messages

    def _end(self, begin: int) -> int | None:
        """The end of the message that begins there, or None if it is incomplete."""
        if len(self._bytes) - begin < _LENGTH:
            return None
        until = begin + _LENGTH + int.from_bytes(self._bytes[begin : begin + _LENGTH], "big")
        return until if until <= len(self._bytes) else None
