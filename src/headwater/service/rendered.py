"""Parts of answers as the JSON that goes out, kept until what they tell of changes."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from headwater.model.names import DatasetId, JobId

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

MAX_BYTES: Final = 64 * 2**20
"""Of one kind of part. A job or dataset takes 2 to 5 kB, so that some 15,000 of each are at hand."""


class JobNode(NamedTuple):
    """A job in a lineage graph, and the edges on its two sides: each dataset by its shown name, and the edge."""

    node: bytes
    reads: Sequence[tuple[DatasetId, bytes]]
    writes: Sequence[tuple[DatasetId, bytes]]


class Kept(Generic[KeyT, ValueT]):
    """Values up to a size in all; the ones that were kept first go first."""

    def __init__(self, size: Callable[[ValueT], int], max_bytes: int = MAX_BYTES) -> None:
        self._size = size
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: dict[KeyT, ValueT] = {}
        self.get = self._values.get

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Keep the value for the key."""
        self.drop(key)
        self._values[key] = value
        self._bytes += self._size(value)
        while self._bytes > self._max_bytes:
            self.drop(next(iter(self._values)))

    def drop(self, key: KeyT) -> None:
        """Keep nothing for the key."""
        value = self._values.pop(key, None)
        if value is not None:
            self._bytes -= self._size(value)

    def missing(self, keys: Iterable[KeyT]) -> list[KeyT]:
        """The keys for which nothing is kept."""
        return [key for key in keys if key not in self._values]

    @property
    def has_room(self) -> bool:
        """Whether another tenth would still find room."""
        return self._bytes < self._max_bytes * 0.9


class Rendered:
    """What is kept, by what it tells of; datasets by their shown names."""

    def __init__(self) -> None:
        self.job_nodes: Kept[JobId, JobNode] = Kept(_size_of_node)
        self.dataset_nodes: Kept[DatasetId, bytes] = Kept(len)
        """A dataset in a lineage graph, but for its edges."""

    def forget(self, jobs: Iterable[JobId], datasets: Iterable[DatasetId]) -> None:
        """Something is new about these."""
        for job in jobs:
            self.job_nodes.drop(job)
        for name in datasets:
            self.dataset_nodes.drop(name)


def in_slices(items: Sequence[KeyT], size: int) -> Iterable[Sequence[KeyT]]:
    """The items, so many at a time."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def _size_of_node(job: JobNode) -> int:
    return len(job.node) + sum(len(edge) for _, edge in (*job.reads, *job.writes))
