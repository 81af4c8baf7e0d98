"""Parts of answers as the JSON that goes out, kept until what they tell of changes."""

import marshal
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

import zstandard

from headwater.model.names import DatasetId, JobId

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

MAX_BYTES: Final = 64 * 2**20
"""Of one kind of part, and as much again packed.

A job or dataset takes 2 to 5 kB: 15,000 of each are at hand, and four times as many after 10 µs.
"""


class JobNode(NamedTuple):
    """A job in a lineage graph, and the edges on its two sides: each dataset by its shown name, and the edge."""

    node: bytes
    reads: Sequence[tuple[DatasetId, bytes]]
    writes: Sequence[tuple[DatasetId, bytes]]


class Packing(NamedTuple, Generic[ValueT]):
    """How large a value is, and how it becomes bytes and comes back."""

    size: Callable[[ValueT], int]
    packed: Callable[[ValueT], bytes]
    unpacked: Callable[[bytes], ValueT]


class Kept(Generic[KeyT, ValueT]):
    """Values up to a size in all, and as much again packed: in the same room these are four times as many.

    What finds no room is packed; of what is packed the ones that were kept first go first.
    """

    def __init__(self, packing: Packing[ValueT], max_bytes: int = MAX_BYTES) -> None:
        self._packing = packing
        self._max_bytes = max_bytes
        self._values: dict[KeyT, ValueT] = {}
        self._packed: dict[KeyT, bytes] = {}
        self._bytes = self._packed_bytes = 0

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None where none is kept."""
        value = self._values.get(key)
        if value is None and (frame := self._packed.get(key)) is not None:
            return self._packing.unpacked(frame)
        return value

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Keep the value for the key."""
        self.drop(key)
        size = self._packing.size(value)
        if self._bytes + size <= self._max_bytes:
            self._values[key] = value
            self._bytes += size
            return
        frame = self._packed[key] = self._packing.packed(value)
        self._packed_bytes += len(frame)
        while self._packed_bytes > self._max_bytes:
            self.drop(next(iter(self._packed)))

    def drop(self, key: KeyT) -> None:
        """Keep nothing for the key."""
        value = self._values.pop(key, None)
        if value is not None:
            self._bytes -= self._packing.size(value)
        frame = self._packed.pop(key, None)
        if frame is not None:
            self._packed_bytes -= len(frame)

    def missing(self, keys: Iterable[KeyT]) -> list[KeyT]:
        """The keys for which nothing is kept."""
        return [key for key in keys if key not in self._values and key not in self._packed]

    @property
    def has_room(self) -> bool:
        """Whether another tenth would still find room."""
        return self._packed_bytes < self._max_bytes * 0.9


class Rendered:
    """What is kept, by what it tells of; datasets by their shown names."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.job_nodes: Kept[JobId, JobNode] = Kept(Packing(_size_of_node, _packed_node, _unpacked_node), max_bytes)
        self.dataset_nodes: Kept[DatasetId, bytes] = Kept(
            Packing(len, _compressor.compress, _decompressor.decompress), max_bytes
        )
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


_compressor: Final = zstandard.ZstdCompressor(level=1)
_decompressor: Final = zstandard.ZstdDecompressor()


def _packed_node(job: JobNode) -> bytes:
    edges = [[(*name, edge) for name, edge in side] for side in (job.reads, job.writes)]
    return _compressor.compress(marshal.dumps((job.node, *edges)))


def _unpacked_node(frame: bytes) -> JobNode:
    node, *edges = marshal.loads(_decompressor.decompress(frame))  # noqa: S302  what this process packed
    return JobNode(node, *([(DatasetId(*name), edge) for *name, edge in side] for side in edges))


def _size_of_node(job: JobNode) -> int:
    return len(job.node) + sum(len(edge) for _, edge in (*job.reads, *job.writes))
