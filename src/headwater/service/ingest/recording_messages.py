"""What a service and the process that records events for it say to each other.

The process says `Recorded`, the service all others. Messages are pickled, each behind its length in four bytes.
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
"""By which the service knows an event again."""


class OpenStore(NamedTuple):
    """Asked first: open the store. The answer is what the process knows of the log, or why it cannot be opened."""

    handover: WriterHandover
    known: Known | None
    """What the service knows of the log; nothing where it is yet to read the store."""


class RelyOn(NamedTuple):
    """Whom to trust from now on."""

    is_required: bool
    keys: Mapping[str, bytes]
    revoked_us: Mapping[str, int]

    @classmethod
    def of(cls, trust: Trust) -> "RelyOn":
        """The message about them."""
        raw_keys = {key_id: key.public_bytes_raw() for key_id, key in trust.keys.items()}
        return cls(trust.is_required, raw_keys, dict(trust.revoked_us))

    @property
    def trust(self) -> Trust:
        """Whom the message is about."""
        keys = {key_id: Ed25519PublicKey.from_public_bytes(raw) for key_id, raw in self.keys.items()}
        return Trust(keys, self.is_required, self.revoked_us)


class ReadAndStore(NamedTuple):
    """Read these events, which have tickets that follow on the first, and store what can be.

    Where they are held, each waits for a `StoreOrForget` once it is read.
    """

    first: Ticket
    events: Sequence[Posted]
    is_held: bool


class StoreOrForget(NamedTuple):
    """Store one that is held, or forget it."""

    ticket: Ticket
    is_stored: bool


class StoreRead(NamedTuple):
    """Store these, which were read already; many in one message take a third of the time of as many messages."""

    entries: Sequence[tuple[Ticket, Entry]]


class End(NamedTuple):
    """Store what came before this, and end."""


class StoreFacts(NamedTuple):
    """Asked: store the facts of all events that were taken in. The answer is how many entries of the log these are."""


class EmptyRows(NamedTuple):
    """Asked: take the raw bytes out of these rows; the answer is None."""

    places: range


EventOutcome = tuple[Ticket, Verdict | None, Outcome]
"""What became of an event; without a verdict it is refused, and did not come to the store."""


class Recorded(NamedTuple):
    """What became of events, what others stored, and how the store is."""

    outcomes: Sequence[EventOutcome]
    held: Sequence[tuple[Ticket, Entry]]
    """What was read and is held, without its bytes."""
    news: Sequence[Stored]
    growth: Growth
    """How the tree over the log grew last."""
    head: Frontier
    """Of the tree over the entries that were told of, with these."""
    folded: int
    """Of how many of the log's entries the facts are stored."""
    fault: str | None


def packed(message: object) -> bytes:
    """A message behind its length."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(_LENGTH, "big") + body


class MessageBuffer:
    """What came, until it is whole messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def messages(self, came: bytes) -> list[object]:
        """The messages that are whole with what came now."""
        self._bytes += came
        messages: list[object] = []
        begin = 0
        while (until := self._end(begin)) is not None:
            messages.append(pickle.loads(self._bytes[begin + _LENGTH : until]))  # noqa: S301  a process of our own's
            begin = until
        del self._bytes[:begin]
        return messages

    def _end(self, begin: int) -> int | None:
        """Where the message ends that begins there, if it is whole."""
        if len(self._bytes) - begin < _LENGTH:
            return None
        until = begin + _LENGTH + int.from_bytes(self._bytes[begin : begin + _LENGTH], "big")
        return until if until <= len(self._bytes) else None
