"""Parts of answers as the JSON that goes out, kept until what they tell of changes."""

import marshal
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

import zstandard

from headwater.model.names import DatasetId, JobId
from headwater.service.ahead import groups

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

MAX_BYTES: Final = 64 * 2**20
"""Of one kind of part, and as much again packed.

A job or dataset takes 2 to 5 kB: 15,000 of each are at hand, and ten times as many after 20 µs.
"""

MAX_RUN_BYTES: Final = 16 * 2**20
"""Of runs, which take about 2 kB: the newest ten of 800 jobs."""

_PACKED_TOGETHER: Final = 32
"""About a millisecond's work."""

_SAMPLES: Final = 100
_DICTIONARY_BYTES: Final = 16 * 2**10
"""What is packed is much alike: with a dictionary of a hundred of the first values, jobs of 4,250 bytes take 320 where
they took 1,160, and half the time to unpack. To make it takes 30 ms, once."""


class JobNode(NamedTuple):
    """A job in a lineage graph, and the edges on its two sides: each dataset by its shown name, and the edge."""

    node: bytes
    reads: Sequence[tuple[DatasetId, bytes]]
    writes: Sequence[tuple[DatasetId, bytes]]


class Writing(NamedTuple, Generic[ValueT]):
    """How large a value is, and how it becomes bytes and comes back."""

    size: Callable[[ValueT], int]
    written: Callable[[ValueT], bytes]
    read: Callable[[bytes], ValueT]


def fitted(text: bytes) -> bytes:
    """The same bytes in as much memory as they need; what orjson and zstandard give keeps two to ten times as much."""
    return bytes(memoryview(text))


class Packing:
    """Makes bytes small that are like others."""

    def __init__(self, alike: Sequence[bytes]) -> None:
        try:
            shared = zstandard.train_dictionary(_DICTIONARY_BYTES, [*alike])
        except zstandard.ZstdError:  # too few, or nothing in common
            shared = zstandard.ZstdCompressionDict(b"", dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        self.packed = zstandard.ZstdCompressor(level=3, dict_data=shared).compress
        self.unpacked = zstandard.ZstdDecompressor(dict_data=shared).decompress


class Kept(Generic[KeyT, ValueT]):
    """Values up to a size in all, and as much again packed: in the same room these are ten times as many.

    What finds no room is packed. What is packed and asked for takes the place of what was not asked for the longest; of
    what is packed the ones that were kept first go first.
    """

    def __init__(self, writing: Writing[ValueT], max_bytes: int = MAX_BYTES) -> None:
        self._writing = writing
        self._max_bytes = max_bytes
        self._values: OrderedDict[KeyT, ValueT] = OrderedDict()
        """Those asked for last come last; some are packed too."""
        self._packed: OrderedDict[KeyT, bytes] = OrderedDict()
        self._bytes = self._packed_bytes = 0

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None where none is kept."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        elif (frame := self._packed.get(key)) is not None:
            value = self._writing.read(self._packing.unpacked(frame))
            self._have_at_hand(key, value)
        return value

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Keep the value for the key."""
        self.drop(key)
        size = self._writing.size(value)
        if self._bytes + size <= self._max_bytes:
            self._values[key] = value
            self._bytes += size
        else:
            self._pack(key, value)

    def pack_ahead(self) -> Iterator[None]:
        """Pack what is at hand too, some with each step, so that it can be given up in no time.

        Nothing is done while all finds room.
        """
        for keys in groups([*self._values], _PACKED_TOGETHER) if self._packed else ():
            if not self.has_room:
                break
            for key in keys:
                if key in self._values and key not in self._packed:
                    self._pack(key, self._values[key])
            yield

    def _have_at_hand(self, key: KeyT, value: ValueT) -> None:
        self._values[key] = value
        self._bytes += self._writing.size(value)
        while self._bytes > self._max_bytes:
            longest_unasked, given_up = self._values.popitem(last=False)
            self._bytes -= self._writing.size(given_up)
            if longest_unasked not in self._packed:
                self._pack(longest_unasked, given_up)

    def _pack(self, key: KeyT, value: ValueT) -> None:
        frame = self._packed[key] = fitted(self._packing.packed(self._writing.written(value)))
        self._packed_bytes += len(frame)
        while self._packed_bytes > self._max_bytes:
            self._drop_packed(next(iter(self._packed)))

    def drop(self, key: KeyT) -> None:
        """Keep nothing for the key."""
        value = self._values.pop(key, None)
        if value is not None:
            self._bytes -= self._writing.size(value)
        self._drop_packed(key)

    def _drop_packed(self, key: KeyT) -> None:
        frame = self._packed.pop(key, None)
        if frame is not None:
            self._packed_bytes -= len(frame)

    @cached_property
    def _packing(self) -> Packing:
        few = islice(self._values.values(), 0, None, max(1, len(self._values) // _SAMPLES))
        return Packing([self._writing.written(value) for value in few])

    def missing(self, keys: Iterable[KeyT]) -> list[KeyT]:
        """The keys for which nothing is kept."""
        return [key for key in keys if not self._holds(key)]

    def _holds(self, key: KeyT) -> bool:
        return key in self._values or key in self._packed

    @property
    def has_room(self) -> bool:
        """Whether another tenth would still find room."""
        return self._packed_bytes < self._max_bytes * 0.9


class KeptBeside(Kept[KeyT, ValueT]):
    """Values of which some others are kept already: `others` gives those, of the keys for which they hold here too."""

    def __init__(self, writing: Writing[ValueT], others: Callable[[KeyT], ValueT | None]) -> None:
        super().__init__(writing)
        self._others = others

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None where none is kept here or there."""
        value = super().get(key)
        if value is None and (value := self._others(key)) is not None:
            self.keep(key, value)
        return value

    def _holds(self, key: KeyT) -> bool:
        return super()._holds(key) or self.get(key) is not None


class RunTexts:
    """Runs as JSON, up to a size in all; those that were kept first go first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._texts: OrderedDict[str, tuple[JobId, bytes]] = OrderedDict()
        self._of_job: dict[JobId, set[str]] = {}
        self._bytes = 0

    def get(self, run_id: str) -> bytes | None:
        """The run, or None where it is not kept."""
        return self._texts[run_id][1] if run_id in self._texts else None

    def keep(self, job: JobId, run_id: str, text: bytes) -> None:
        """Keep a run of the job."""
        self.forget([run_id])
        self._texts[run_id] = job, fitted(text)
        self._of_job.setdefault(job, set()).add(run_id)
        self._bytes += len(text)
        while self._bytes > self._max_bytes:
            self.forget([next(iter(self._texts))])

    def forget(self, run_ids: Iterable[str]) -> None:
        """Something is new about these runs."""
        for run_id in run_ids:
            if run_id in self._texts:
                job, text = self._texts.pop(run_id)
                self._bytes -= len(text)
                self._of_job[job].discard(run_id)
                if not self._of_job[job]:
                    del self._of_job[job]

    def forget_all_of(self, jobs: Iterable[JobId]) -> None:
        """Something is new about what runs of these jobs have met."""
        for job in jobs:
            self.forget([*self._of_job.get(job, ())])


class RunTextsBeside(RunTexts):
    """Runs that are kept elsewhere: `others` gives where, for a run that is the same there; else it is not kept."""

    def __init__(self, others: Callable[[str], RunTexts | None]) -> None:
        super().__init__(max_bytes=0)
        self._others = others

    def get(self, run_id: str) -> bytes | None:
        """The run, or None where it is not kept, or does not hold here."""
        others = self._others(run_id)
        return None if others is None else others.get(run_id)

    def keep(self, job: JobId, run_id: str, text: bytes) -> None:
        """Keep a run of the job there, for whoever asks next, of whatever time."""
        if (others := self._others(run_id)) is not None:
            others.keep(job, run_id, text)


class Rendered:
    """What is kept, by what it tells of; datasets by their shown names."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.job_nodes: Kept[JobId, JobNode] = Kept(_JOB_NODES, max_bytes)
        self.dataset_nodes: Kept[DatasetId, bytes] = Kept(_DATASET_NODES, max_bytes)
        """A dataset in a lineage graph, but for its edges."""
        self.runs = RunTexts(MAX_RUN_BYTES)
        """Runs that have ended."""

    @classmethod
    def beside(
        cls,
        job_nodes: Callable[[JobId], JobNode | None],
        dataset_nodes: Callable[[DatasetId], bytes | None],
        runs: Callable[[str], RunTexts | None],
    ) -> "Rendered":
        """Nothing yet but what these give."""
        rendered = cls()
        rendered.job_nodes = KeptBeside(_JOB_NODES, job_nodes)
        rendered.dataset_nodes = KeptBeside(_DATASET_NODES, dataset_nodes)
        rendered.runs = RunTextsBeside(runs)
        return rendered

    def forget(self, jobs: Iterable[JobId], datasets: Iterable[DatasetId]) -> None:
        """Something is new about these."""
        for job in jobs:
            self.job_nodes.drop(job)
        for name in datasets:
            self.dataset_nodes.drop(name)


def _written_node(job: JobNode) -> bytes:
    edges = [[(*name, edge) for name, edge in side] for side in (job.reads, job.writes)]
    return marshal.dumps((job.node, *edges))


def _read_node(written: bytes) -> JobNode:
    node, *edges = marshal.loads(written)  # noqa: S302  what this process wrote
    return JobNode(node, *([(DatasetId(*name), edge) for *name, edge in side] for side in edges))


def _size_of_node(job: JobNode) -> int:
    return len(job.node) + sum(len(edge) for _, edge in (*job.reads, *job.writes))


_JOB_NODES: Final = Writing(_size_of_node, _written_node, _read_node)
_DATASET_NODES: Final[Writing[bytes]] = Writing(len, bytes, bytes)
