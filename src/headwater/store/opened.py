"""A store that is open: its own reader, and others beside it."""

from collections.abc import Callable

from headwater.errors import SetupError
from headwater.store.connection import Connection
from headwater.store.reader import Reader
from headwater.store.segments import Segments


class OpenStore(Reader):
    """What `Store` has, and one that is lent to another process."""

    def another_reader(self) -> Reader:
        """A reader with a connection of its own, for another thread; the caller closes it.

        It knows the facts of every event that was taken in until now.
        """
        self.wait_for_facts()
        return self.opened_reader()

    def opened_reader(self) -> Reader:
        """A reader with a connection of its own, of what is in the database; the caller closes it."""
        return Reader(self.opened_connection(self.see_to_facts), self.known_segments)

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
