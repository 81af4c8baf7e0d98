"""The read side of a store that another process writes: the database, plus contents not yet stored in it."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from headwater.model.edits import FactsInOrder
from headwater.model.facts import Content, Edit
from headwater.signing.merkle import EMPTY, Frontier
from headwater.store.backoff import Backoff
from headwater.store.connection import Connection
from headwater.store.entries import Stored
from headwater.store.opened import FACTS_AGAIN_AFTER_S, READS_WITHIN_S, OpenStore
from headwater.store.store import Known, Store


class WriterProcess(Protocol):
    """The process that writes; callable from any thread, which waits briefly for the answer.

    Each method raises UnavailableError if the process is gone, or cannot do it now.
    """

    def store_facts(self) -> int:
        """Have it store the facts of all events that it took in; returns the number of log entries they cover."""

    def empty(self, indexes: range) -> None:
        """As in `Store`."""


class ReadSideStore(OpenStore):
    """Answers as the store would, for all events passed to `note_stored`. Threads: as for `Store`."""

    def __init__(self, store: Store, writer_process: WriterProcess) -> None:
        """Read a store whose write side was handed over; nothing is known of it until `begin`."""
        super().__init__(store.opened_connection(self.see_to_facts), store.known_segments)
        self._store = store
        self._writer_process = writer_process
        self._folded = 0
        self._size = 0
        self._head = EMPTY
        self._in_order = FactsInOrder(())
        self._noting = threading.Lock()
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._asking = Backoff(self._ask_for_facts, FACTS_AGAIN_AFTER_S)
        self._contents: dict[bytes, bytes] = {}
        """Contents that may not be in the database yet, by digest."""

    def opened_connection(self, opened: Callable[[], None]) -> Connection:
        """As in any open store."""
        return self._store.opened_connection(opened)

    def see_to_facts(self) -> None:
        """As in any open store."""
        self._asking.attempt()

    def _ask_for_facts(self) -> None:
        self.note_folded(self._writer_process.store_facts())

    def empty(self, indexes: range) -> None:
        """As in any open store."""
        self._writer_process.empty(indexes)

    @property
    def known(self) -> Known:
        """What this process knows of the log."""
        return Known(self._size, self._in_order.deleted, self._head)

    @property
    def fault(self) -> str | None:
        """Why facts that a read needed are not available, or None if no fault is known."""
        return self._asking.fault if self._folded < self._size else None

    def begin(self, known: Known) -> None:
        """Start from what the writer process knew of the log when it opened the store, all facts stored."""
        self._size = self._folded = known.size
        self._head = known.head
        self._in_order = FactsInOrder(known.deleted)
        self.connection.answers_within(READS_WITHIN_S)

    def note_stored(self, stored: Stored) -> None:
        """Note a new event."""
        self._size = max(self._size, stored.log_index + 1)
        for fact in stored.facts:
            if type(fact) is Content:
                if fact.digest not in self._contents:
                    self._contents[fact.digest] = fact.body
                    self._waiting.append((stored.log_index, fact.digest))
            elif type(fact) is Edit:
                self._in_order.note([fact])

    def note_head(self, head: Frontier) -> None:
        """Note the head of the tree over all entries noted so far."""
        self._head = head

    def note_folded(self, folded: int) -> None:
        """Note that the facts of the log's first `folded` entries are in the database."""
        with self._noting:  # also called by readers, on other threads
            self._folded = max(self._folded, folded)
            while self._waiting and self._waiting[0][0] < folded:
                del self._contents[self._waiting.popleft()[1]]

    def wait_for_facts(self) -> None:
        """As in `Bounded`."""
        if self._folded < self._size:
            self.see_to_facts()

    def _read_content_body(self, digest: bytes) -> bytes:
        return self._contents.get(digest) or super()._read_content_body(digest)
