"""What runs told, as the walk to a root cause reads it: kept until they tell more."""

from collections.abc import Callable, Iterable
from typing import Final

from headwater.graph.causes.readings import Readings
from headwater.graph.causes.record import Record
from headwater.service.knowledge.kept import BySize

MAX_BYTES: Final = 48 * 2**20
"""Of all that is kept: about 20,000 runs that read and wrote three datasets."""
_RUN_BYTES: Final = 1_000
_END_BYTES: Final = 400
_CHECK_BYTES: Final = 500


class RunRecords:
    """The records that were asked for last, up to a size in all; lives on the event loop's thread."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.readings = Readings()
        self._kept: BySize[str, Record] = BySize(max_bytes, size_bytes)
        self._names_as_of = 0

    def names_are_as_of(self, changes: int) -> None:
        """Forget all if classes of names have changed: records have datasets by their shown names."""
        if self._names_as_of != changes:
            self._names_as_of = changes
            self._kept.clear()

    def get(self, run_id: str) -> Record | None:
        """What the run told, or None where that is not kept."""
        return self._kept.get(run_id)

    def keep(self, record: Record) -> None:
        """Keep what a run told."""
        self._kept.keep(record.outline.run_id, record)

    def forget(self, run_ids: Iterable[str]) -> None:
        """These runs told more."""
        for run_id in run_ids:
            self._kept.drop(run_id)


class RunRecordsThen(RunRecords):
    """Of a past: those of now that `is_same` says of a run that they hold; a past keeps none of its own.

    `changes` gives how often classes of names have changed by now.
    """

    def __init__(self, now: RunRecords, is_same: Callable[[str], bool], changes: Callable[[], int]) -> None:
        super().__init__(max_bytes=0)
        self.readings = now.readings
        self._now = now
        self._is_same = is_same
        self._changes = changes

    def names_are_as_of(self, changes: int) -> None:
        """Have now forget its own if classes of names have changed by now."""
        self._now.names_are_as_of(self._changes())

    def get(self, run_id: str) -> Record | None:
        """As in `RunRecords`."""
        return self._now.get(run_id) if self._is_same(run_id) else None

    def keep(self, record: Record) -> None:
        """Have now keep it, where it holds there."""
        if self._is_same(record.outline.run_id):
            self._now.keep(record)


def size_bytes(record: Record) -> int:
    """About how much memory a record takes, were all its facets its own."""
    checks = sum(len(end.checks) for end in record.ends.values())
    checks += len(record.tests)
    texts = sum(len(said.view.model_dump_json()) for said in record.said.values())
    return _RUN_BYTES + _END_BYTES * len(record.ends) + _CHECK_BYTES * checks + texts
