"""A store that another process writes to, read here: the database, and what that process has yet to store in it."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from headwater.model.edits import InOrder
from headwater.model.facts import Content, Edit
from headwater.signing.merkle import EMPTY, Frontier
from headwater.store.attempts import Attempts
from headwater.store.connection import Connection
from headwater.store.entries import Stored
from headwater.store.opened import FACTS_AGAIN_AFTER_S, READS_WITHIN_S, OpenStore
from headwater.store.store import Known, Store


class Borrower(Protocol):
    """The process that writes; any thread may ask it, and waits a little for the answer.

    Each method raises UnavailableError where it is not there, or cannot do it now.
    """

    def store_facts(self) -> int:
        """Have it store the facts of all events that it took in; gives how many entries of the log these are."""

    def empty(self, places: range) -> None:
        """As in `Store`."""


class LentStore(OpenStore):
    """Answers as the store itself would, of all that was heard of; called as `Store` is."""

    def __init__(self, store: Store, borrower: Borrower) -> None:
        """Read a store that is lent; nothing is known of it until `begin`."""
        super().__init__(store.opened_connection(self.see_to_facts), store.known_segments)
        self._store = store
        self._borrower = borrower
        self._folded = 0
        self._size = 0
        self._head = EMPTY
        self._in_order = InOrder(())
        self._noting = threading.Lock()
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._asking = Attempts(self._ask_for_facts, FACTS_AGAIN_AFTER_S)
        self._contents: dict[bytes, bytes] = {}
        """Bodies by digest, of contents that may not be in the database yet."""

    def opened_connection(self, opened: Callable[[], None]) -> Connection:
        """As in any open store."""
        return self._store.opened_connection(opened)

    def see_to_facts(self) -> None:
        """As in any open store."""
        self._asking.make()

    def _ask_for_facts(self) -> None:
        self.stored_until(self._borrower.store_facts())

    def empty(self, places: range) -> None:
        """As in any open store."""
        self._borrower.empty(places)

    @property
    def known(self) -> Known:
        """What is known of the log."""
        return Known(self._size, self._in_order.deleted, self._head)

    @property
    def fault(self) -> str | None:
        """Why facts that somebody needed cannot be read now, or None if all is well as far as is known."""
        return self._asking.fault if self._folded < self._size else None

    def begin(self, known: Known) -> None:
        """Know of the log what the process did when it opened the store, and had stored in full."""
        self._size = self._folded = known.size
        self._head = known.head
        self._in_order = InOrder(known.deleted)
        self.connection.answers_within(READS_WITHIN_S)

    def heard(self, stored: Stored) -> None:
        """Know of a new event."""
        self._size = max(self._size, stored.log_index + 1)
        for fact in stored.facts:
            if type(fact) is Content:
                if fact.digest not in self._contents:
                    self._contents[fact.digest] = fact.body
                    self._waiting.append((stored.log_index, fact.digest))
            elif type(fact) is Edit:
                self._in_order.note([fact])

    def heard_all(self, head: Frontier) -> None:
        """Know the head of the tree over the entries that were heard of."""
        self._head = head

    def stored_until(self, folded: int) -> None:
        """Know that the facts of so many of the log's entries are in the database."""
        with self._noting:  # whoever reads may be told so, too
            self._folded = max(self._folded, folded)
            while self._waiting and self._waiting[0][0] < folded:
                del self._contents[self._waiting.popleft()[1]]

    def wait_for_facts(self) -> None:
        """As in `Bounded`."""
        if self._folded < self._size:
            self.see_to_facts()

    def _read_content_body(self, digest: bytes) -> bytes:
        return self._contents.get(digest) or super()._read_content_body(digest)
