"""What every open store can do besides being read: open further readers, and give up raw bytes to segments.

Two classes are such stores: `store.Store`, which writes by itself, and `lent.LentStore`, whose events another process
writes. Whoever only reads, or moves old events out, takes an `OpenStore` and need not know which it is.
"""

from collections.abc import Callable
from typing import Final

from headwater.errors import SetupError
from headwater.store.connection import Connection
from headwater.store.reader import Reader
from headwater.store.segments import Segments

READS_WITHIN_S: Final = 4.0
"""For how long the database may say nothing to who keeps all others waiting meanwhile."""
READS_APART_WITHIN_S: Final = 60.0
"""For how long it may say nothing to a reader in a thread of its own, who may look through all of the log."""
FACTS_WITHIN_S: Final = 3.0
"""How long who needs facts may wait for them to be stored."""
FACTS_AGAIN_AFTER_S: Final = 1.0
"""How long nobody tries again to have facts stored that could not be."""


class OpenStore(Reader):
    """An open store, whichever process writes to it. Itself a `Reader`, over the store's own connection."""

    def another_reader(self) -> Reader:
        """A reader with a connection of its own, for another thread; the caller closes it.

        It knows the facts of every event that was taken in until now.

        Raises:
            UnavailableError: those of some cannot be stored now.
        """
        self.wait_for_facts()
        return self.opened_reader()

    def opened_reader(self) -> Reader:
        """A reader with a connection of its own, of what is in the database; the caller closes it."""
        connection = self.opened_connection(self.see_to_facts)
        connection.answers_within(READS_APART_WITHIN_S)
        return Reader(connection, self.known_segments)

    def opened_connection(self, opened: Callable[[], None]) -> Connection:
        """A connection to read over; `opened` is called whenever the database may have lost facts meanwhile."""
        raise NotImplementedError

    def see_to_facts(self) -> None:
        """Store again what facts the database may have lost, should it have crashed."""

    @property
    def segments(self) -> Segments:
        """Where raw bytes are that were moved out of the database.

        Raises:
            SetupError: no folder of segments is known.
        """
        if self.known_segments is None:
            raise SetupError("raw events cannot be moved: no folder of segments is known")
        return self.known_segments

    def empty(self, places: range) -> None:
        """Take the raw bytes out of the rows of these events, once each is known to be in a segment.

        Raises:
            UnavailableError: they are not, or the database does not answer.
        """
        raise NotImplementedError
