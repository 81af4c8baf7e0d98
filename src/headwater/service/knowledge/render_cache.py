"""A cache of rendered JSON: the parts of answers, each until the node it describes changes."""

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from headwater.graph.records import Edge
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.http.answers import iso
from headwater.service.knowledge.cache import Codec, CompressedCache, FallbackCache, fitted

MAX_BYTES: Final = 64 * 2**20
"""For jobs, and again for datasets; each as much again compressed.

A job or dataset takes 2 to 5 kB: 15,000 of each are at hand, and ten times as many take 20 µs to decompress.
"""

MAX_RUN_BYTES: Final = 32 * 2**20
"""For runs, which take about 2 kB: 15,000 are at hand, and eight times as many take 20 µs to decompress."""


_CREATED: Final = b',"createdAt":"'
_UPDATED: Final = b'","updatedAt":"'
_FIRST_SEEN: Final = b',"firstSeen":"'
_LATEST_RUN: Final = b',"latestRun":'


class JobNode(NamedTuple):
    """The JSON of a job in a lineage graph, and of the edges on each side, with the shown names of their datasets."""

    node: bytes
    reads: Sequence[tuple[DatasetId, bytes]]
    writes: Sequence[tuple[DatasetId, bytes]]


class ReusableNodes(Protocol):
    """Nodes rendered for another time that can be reused here, once times and counts are replaced.

    Each method returns None if the node differs here, or is not rendered there. `facets` names the facets in its JSON.
    """

    def job_node(self, job: JobId, facets: AbstractSet[str]) -> JobNode | None:
        """The job; to be replaced are its times, its newest run, and the times and run counts of its edges."""

    def dataset_node(self, name: DatasetId, facets: AbstractSet[str]) -> bytes | None:
        """The dataset; to be replaced are its times."""


class RunJsonCache:
    """The JSON of runs, up to `max_bytes`, and as much again compressed."""

    def __init__(self, max_bytes: int) -> None:
        self._texts: CompressedCache[str, bytes] = CompressedCache(_PLAIN, max_bytes, self._is_no_more)
        self._job: dict[str, JobId] = {}
        self._of_job: dict[JobId, set[str]] = {}

    def get(self, run_id: str) -> bytes | None:
        """The run, or None if it is not cached."""
        return self._texts.get(run_id)

    def keep(self, job: JobId, run_id: str, text: bytes) -> None:
        """Cache a run of the job."""
        self.drop([run_id])
        self._job[run_id] = job
        self._of_job.setdefault(job, set()).add(run_id)
        self._texts.keep(run_id, fitted(text))

    def __contains__(self, run_id: str) -> bool:
        """Whether the run is cached."""
        return run_id in self._job

    @property
    def has_room(self) -> bool:
        """As in `CompressedCache`."""
        return self._texts.has_room

    def pack_ahead(self) -> Iterator[None]:
        """As in `CompressedCache`."""
        return self._texts.pack_ahead()

    def drop(self, run_ids: Iterable[str]) -> None:
        """Remove these runs."""
        for run_id in run_ids:
            if run_id in self._job:
                self._texts.drop(run_id)
                self._is_no_more(run_id)

    def _is_no_more(self, run_id: str) -> None:
        job = self._job.pop(run_id)
        self._of_job[job].discard(run_id)
        if not self._of_job[job]:
            del self._of_job[job]

    def drop_all_of(self, jobs: Iterable[JobId]) -> None:
        """Remove all runs of these jobs."""
        for job in jobs:
            self.drop([*self._of_job.get(job, ())])


class DelegatingRunJsonCache(RunJsonCache):
    """Caches nothing itself: `cache_of` returns the cache to use for a run, or None if its JSON cannot be shared."""

    def __init__(self, cache_of: Callable[[str], RunJsonCache | None]) -> None:
        super().__init__(max_bytes=0)
        self._cache_of = cache_of

    def get(self, run_id: str) -> bytes | None:
        """The run, or None if it is not cached there, or differs here."""
        cache = self._cache_of(run_id)
        return None if cache is None else cache.get(run_id)

    def keep(self, job: JobId, run_id: str, text: bytes) -> None:
        """Cache a run of the job there, where reads of any time find it."""
        if (cache := self._cache_of(run_id)) is not None:
            cache.keep(job, run_id, text)


@dataclass(slots=True)
class RenderCache:
    """The rendered jobs, datasets (by shown name) and runs."""

    job_nodes: CompressedCache[JobId, JobNode]
    dataset_nodes: CompressedCache[DatasetId, bytes]
    """A dataset in a lineage graph, without its edges."""
    runs: RunJsonCache
    """Runs that have ended."""

    @classmethod
    def empty(cls, max_bytes: int = MAX_BYTES) -> "RenderCache":
        """An empty cache."""
        return cls(
            CompressedCache(_JOB_NODES, max_bytes), CompressedCache(_PLAIN, max_bytes), RunJsonCache(MAX_RUN_BYTES)
        )

    @classmethod
    def with_fallback(
        cls,
        job_nodes: Callable[[Sequence[JobId]], Mapping[JobId, JobNode]],
        dataset_nodes: Callable[[Sequence[DatasetId]], Mapping[DatasetId, bytes]],
        runs: Callable[[str], RunJsonCache | None],
    ) -> "RenderCache":
        """An empty cache that falls back to these."""
        return cls(
            FallbackCache(_JOB_NODES, MAX_BYTES, job_nodes),
            FallbackCache(_PLAIN, MAX_BYTES, dataset_nodes),
            DelegatingRunJsonCache(runs),
        )

    def drop(self, jobs: Iterable[JobId], datasets: Iterable[DatasetId]) -> None:
        """Remove these nodes."""
        for job in jobs:
            self.job_nodes.drop(job)
        for name in datasets:
            self.dataset_nodes.drop(name)


def with_seen(node: bytes, seen: Seen) -> bytes:
    """A rendered job or dataset with other times of its first and last event."""
    begin = node.index(_CREATED)  # a quote within a name would have a backslash before it
    times = _CREATED, iso(seen.first_us).encode(), _UPDATED, iso(seen.last_us).encode()
    return b"".join((node[:begin], *times, node[begin + sum(map(len, times)) :]))


def with_runs(edge: bytes, edge_now: Edge) -> bytes:
    """A rendered edge with the times and run count of another one."""
    times = iso(edge_now.seen.first_us).encode(), iso(edge_now.seen.last_us).encode()
    return b'%b%b%b","lastSeen":"%b","runs":%d}' % (
        edge[: edge.rindex(_FIRST_SEEN)],
        _FIRST_SEEN,
        *times,
        edge_now.runs,
    )


def job_data(node: bytes, seen: Seen) -> bytes:
    """A rendered job up to its newest run, with other times as in `with_seen`."""
    return with_seen(node[: node.index(_LATEST_RUN)], seen)


def _written_node(job: JobNode) -> bytes:
    edges = [[(*name, edge) for name, edge in side] for side in (job.reads, job.writes)]
    return marshal.dumps((job.node, *edges))


def _read_node(written: bytes) -> JobNode:
    node, *edges = marshal.loads(written)  # noqa: S302  what this process wrote
    return JobNode(node, *([(DatasetId(*name), edge) for *name, edge in side] for side in edges))


def _size_of_node(job: JobNode) -> int:
    size = len(job.node)
    for side in (job.reads, job.writes):
        for _, edge in side:
            size += len(edge)
    return size


_JOB_NODES: Final = Codec(_size_of_node, _written_node, _read_node)
_PLAIN: Final[Codec[bytes]] = Codec(len, bytes, bytes)
