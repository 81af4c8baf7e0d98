"""What every open store offers besides reads: further readers, and moving raw bytes out to segments.

There are two: `store.Store` writes itself; for `read_side.ReadSideStore` another process writes. Code that only reads,
or moves old events out, takes an `OpenStore` and works with either.
"""

from collections.abc import Callable
from typing import Final

from headwater.errors import SetupError
from headwater.store.connection import Connection
from headwater.store.reader import Reader
from headwater.store.segments import Segments

READS_WITHIN_S: Final = 4.0
"""Database time-out on the event loop's thread, where a read keeps every other request waiting."""
READS_APART_WITHIN_S: Final = 60.0
"""Database time-out for a reader in its own thread, which may scan the whole log."""
FACTS_WITHIN_S: Final = 3.0
"""How long a read may wait for facts to be stored."""
FACTS_AGAIN_AFTER_S: Final = 1.0
"""Back-off after facts could not be stored."""


class OpenStore(Reader):
    """An open store, whichever process writes to it. Itself a `Reader`, over the store's own connection."""

    def another_reader(self) -> Reader:
        """A reader with a connection of its own, for another thread; the caller closes it.

        It sees the facts of every event taken in so far.

        Raises:
            UnavailableError: some facts cannot be stored now.
        """
        self.wait_for_facts()
        return self.opened_reader()

    def opened_reader(self) -> Reader:
        """A reader with a connection of its own, of what is in the database; the caller closes it."""
        connection = self.opened_connection(self.see_to_facts)
        connection.answers_within(READS_APART_WITHIN_S)
        return Reader(connection, self.known_segments)

    def opened_connection(self, opened: Callable[[], None]) -> Connection:
        """A connection for reads; `opened` is called whenever the database may have lost facts in the meantime."""
        raise NotImplementedError

    def see_to_facts(self) -> None:
        """Store the facts again that the database may have lost in a crash."""

    @property
    def segments(self) -> Segments:
        """The folder of raw bytes that were moved out of the database.

        Raises:
            SetupError: no folder of segments is known.
        """
        if self.known_segments is None:
            raise SetupError("cannot move raw events: the segment folder is unknown")
        return self.known_segments

    def empty(self, indexes: range) -> None:
        """Remove the raw bytes from the rows of these events, after checking that each is in a segment.

        Raises:
            UnavailableError: one is in no segment, or the database does not answer.
        """
        raise NotImplementedError
