"""A cache of what runs reported, as the root-cause walk reads it; a run's record is dropped with its next event.

What a stream had reported by an earlier time stays, because its next event does not change that. So do its events
themselves: walks that end at other times read many of the same.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from headwater.graph.causes.readings import Readings
from headwater.graph.causes.record import EventOfRun, Record
from headwater.service.knowledge.cache import LruCache

MAX_BYTES: Final = 48 * 2**20
"""Of all records: about 20,000 runs that read and wrote three datasets."""
_MAX_BYTES_THEN: Final = 8 * 2**20
"""Of all records as of earlier times: about 4,000."""
_MAX_BYTES_OF_EVENTS: Final = 8 * 2**20
"""Of the events of long runs, as received; about twice as much in memory."""
_RUN_BYTES: Final = 1_000
_END_BYTES: Final = 400
_CHECK_BYTES: Final = 500


class Then(NamedTuple):
    """A run at an earlier time; `events`: how many of its events up to that time are known."""

    run_id: str
    until_us: int
    events: int


class RunRecords:
    """The most recently used records, up to `max_bytes`. For the event loop's thread."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.readings = Readings()
        self._cache: LruCache[str, Record] = LruCache(max_bytes, size_bytes)
        self._then: LruCache[Then, Record] = LruCache(min(max_bytes, _MAX_BYTES_THEN), size_bytes)
        self.events: LruCache[int, EventOfRun] = LruCache(min(max_bytes, _MAX_BYTES_OF_EVENTS), _event_bytes)
        """Events of long runs, by log index."""
        self._names_as_of = 0

    def names_are_as_of(self, changes: int) -> None:
        """Drop everything if names were joined or split since: records hold shown names."""
        if self._names_as_of != changes:
            self._names_as_of = changes
            self._cache.clear()
            self._then.clear()

    def holds(self, run_id: str) -> bool:
        """Whether the records that are cached by run id are for this run."""
        return True

    def get(self, run_id: str) -> Record | None:
        """The run's record, or None if it is not cached."""
        return self._cache.get(run_id)

    def keep(self, record: Record) -> None:
        """Cache a record."""
        self._cache.keep(record.summary.run_id, record)

    def get_then(self, then: "Then") -> Record | None:
        """A run's record as of then, or None if it is not cached."""
        return self._then.get(then)

    def keep_then(self, then: "Then", record: Record) -> None:
        """Cache a record as of then."""
        self._then.keep(then, record)

    def forget(self, run_ids: Iterable[str]) -> None:
        """Drop the records of these runs."""
        for run_id in run_ids:
            self._cache.drop(run_id)


class RunRecordsAsOf(RunRecords):
    """For a past: uses the current records of runs for which `is_same` holds; caches none of its own.

    Records as of earlier times are shared where datasets have the same names. `changes` returns the current count of
    changes to dataset identities.
    """

    def __init__(
        self,
        now: RunRecords,
        is_same: Callable[[str], bool],
        has_same_names: Callable[[str], bool],
        changes: Callable[[], int],
    ) -> None:
        super().__init__(max_bytes=0)
        self.readings = now.readings
        self.events = now.events
        self._now = now
        self._is_same = is_same
        self._has_same_names = has_same_names
        self._changes = changes

    def names_are_as_of(self, changes: int) -> None:
        """Drop the current records if names were joined or split since."""
        self._now.names_are_as_of(self._changes())

    def holds(self, run_id: str) -> bool:
        """As in `RunRecords`: not if the run has events since, or other names."""
        return self._is_same(run_id)

    def get(self, run_id: str) -> Record | None:
        """As in `RunRecords`."""
        return self._now.get(run_id) if self.holds(run_id) else None

    def keep(self, record: Record) -> None:
        """Cache the record among the current ones, if it holds there."""
        if self.holds(record.summary.run_id):
            self._now.keep(record)

    def get_then(self, then: Then) -> Record | None:
        """As in `RunRecords`."""
        return self._now.get_then(then) if self._has_same_names(then.run_id) else None

    def keep_then(self, then: Then, record: Record) -> None:
        """Cache the record among the current ones, if it holds there."""
        if self._has_same_names(then.run_id):
            self._now.keep_then(then, record)


def _event_bytes(event: EventOfRun) -> int:
    return len(event.event.raw)


def size_bytes(record: Record) -> int:
    """An estimate of a record's memory, as if it shared no facets."""
    checks = sum(len(end.checks) for end in record.ends.values())
    checks += len(record.tests)
    texts = sum(len(facet.view.model_dump_json()) for facet in record.facets.values())
    return _RUN_BYTES + _END_BYTES * len(record.ends) + _CHECK_BYTES * checks + texts
