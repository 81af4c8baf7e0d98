"""A temporary store: the facts of some of the log's events, for a past."""

from collections.abc import Sequence

from headwater.errors import UnavailableError
from headwater.model.facts import Fact
from headwater.store.connection import Row
from headwater.store.entries import LoggedEvent, entry_today
from headwater.store.reader import Reader
from headwater.store.sqlite import SqliteConnection
from headwater.store.store import Store


class TemporaryStore(Store):
    """Facts merged through the same tables; raw bytes stay in `log`, and are read from there.

    Events keep the indexes that they have in `log`. Called from one thread at a time.
    """

    has_tree = False
    is_incomplete = False
    """Whether a full disk cut it short: without a journal it cannot take a transaction back, so make another one."""

    def __init__(self, log: Reader) -> None:
        self._log = log
        self._log_indexes: list[int] = []
        self._examined = set[int]()
        database = SqliteConnection.temporary()
        super().__init__(database, database)

    def __len__(self) -> int:
        """The number of events it holds."""
        return len(self._log_indexes)

    def add_logged(self, logged: Sequence[LoggedEvent], also: Sequence[Fact] = ()) -> list[Fact]:
        """Add events and edits from `log`, in its order; returns the facts of those that are new here.

        An event that was accepted once and would be refused today is skipped. `also` are facts about the same from
        other events; they are ignored if no event is new.

        Raises:
            UnavailableError: the folder for temporary files is full; from now on, the store is incomplete.
        """
        new = [each for each in logged if each.log_index not in self._examined]
        self._examined.update(each.log_index for each in new)
        entries = [(each.log_index, entry) for each in new if (entry := entry_today(each, keep_raw=False)) is not None]
        self._log_indexes += [log_index for log_index, _ in entries]
        added = [entry for _, entry in entries]
        added[-1:] = [entry._replace(facts=(*entry.facts, *also)) for entry in added[-1:]]
        try:
            new_facts = [fact for stored in self.add(added) for fact in stored.facts]
            self.catch_up()
        except UnavailableError as fault:
            self.is_incomplete = True
            raise UnavailableError(
                f"asOf, logSize: there is no room for the past in the folder for temporary files ({fault.__cause__})"
            ) from fault
        return new_facts

    def raw(self, digest: bytes) -> bytes | None:
        """The bytes of an event, as they came."""
        return None if super().raw(digest) is None else self._log.raw(digest)

    def _logged(self, row: Row) -> LoggedEvent:
        logged = super()._logged(row)
        return logged._replace(log_index=self._log_indexes[logged.log_index], raw=self._log.raw(logged.digest) or b"")
