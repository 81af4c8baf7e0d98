"""An in-memory store: the facts of some of the log's events, for a past."""

from collections.abc import Sequence

from headwater.model.facts import Fact
from headwater.store.connection import Row
from headwater.store.entries import LoggedEvent, entry_today
from headwater.store.reader import Reader
from headwater.store.sqlite import SqliteConnection
from headwater.store.store import Store


class MemoryStore(Store):
    """Facts merged in memory, through the same tables; raw bytes stay in `log`, and are read from there.

    Events keep the places that they have in `log`. Called from one thread at a time.
    """

    has_tree = False

    def __init__(self, log: Reader) -> None:
        self._log = log
        self._places: list[int] = []
        memory = SqliteConnection.in_memory()
        super().__init__(memory, memory)

    def __len__(self) -> int:
        """How many events it holds."""
        return len(self._places)

    def add_logged(self, logged: Sequence[LoggedEvent]) -> list[Fact]:
        """Add events and edits from `log`, in its order; returns the facts of those that are new here.

        An event that was taken once and would be refused today is passed over, as a service of today would.
        """
        held = set(self._places)
        new = (each for each in logged if each.log_index not in held)
        taken = [(each.log_index, entry) for each in new if (entry := entry_today(each, is_raw_kept=False)) is not None]
        self._places += [place for place, _ in taken]
        told = [fact for stored in self.add([entry for _, entry in taken]) for fact in stored.facts]
        self.catch_up()
        return told

    def raw(self, digest: bytes) -> bytes | None:
        """The bytes of an event, as they came."""
        return None if super().raw(digest) is None else self._log.raw(digest)

    def _logged(self, row: Row) -> LoggedEvent:
        kept = super()._logged(row)
        return kept._replace(log_index=self._places[kept.log_index], raw=self._log.raw(kept.digest) or b"")
