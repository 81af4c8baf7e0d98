"""Parts of answers as the JSON that goes out, kept until what they tell of changes."""

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from headwater.graph.records import Edge
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.http.answers import iso
from headwater.service.knowledge.kept import Kept, KeptBeside, Writing, fitted

MAX_BYTES: Final = 64 * 2**20
"""Of one kind of part, and as much again packed.

A job or dataset takes 2 to 5 kB: 15,000 of each are at hand, and ten times as many after 20 µs.
"""

MAX_RUN_BYTES: Final = 32 * 2**20
"""Of runs, which take about 2 kB: 15,000 are at hand, and eight times as many after 20 µs."""


_CREATED: Final = b',"createdAt":"'
_UPDATED: Final = b'","updatedAt":"'
_FIRST_SEEN: Final = b',"firstSeen":"'
_LATEST_RUN: Final = b',"latestRun":'


class JobNode(NamedTuple):
    """A job in a lineage graph, and the edges on its two sides: each dataset by its shown name, and the edge."""

    node: bytes
    reads: Sequence[tuple[DatasetId, bytes]]
    writes: Sequence[tuple[DatasetId, bytes]]


class RenderedElsewhere(Protocol):
    """Jobs and datasets as they are rendered of another time, where they hold here but for what changes all the time.

    None stands for what does not, or is not rendered there. `facets` are those that are told of where it is.
    """

    def job_node(self, job: JobId, facets: AbstractSet[str]) -> JobNode | None:
        """The job; but for when it was heard of, its newest run, and when and by how many runs its edges were made."""

    def dataset_node(self, name: DatasetId, facets: AbstractSet[str]) -> bytes | None:
        """The dataset; but for when it was heard of."""


class RunTexts:
    """Runs as JSON, up to a size in all, and as much again packed."""

    def __init__(self, max_bytes: int) -> None:
        self._texts: Kept[str, bytes] = Kept(_PLAIN, max_bytes, self._is_no_more)
        self._job: dict[str, JobId] = {}
        self._of_job: dict[JobId, set[str]] = {}

    def get(self, run_id: str) -> bytes | None:
        """The run, or None where it is not kept."""
        return self._texts.get(run_id)

    def keep(self, job: JobId, run_id: str, text: bytes) -> None:
        """Keep a run of the job."""
        self.forget([run_id])
        self._job[run_id] = job
        self._of_job.setdefault(job, set()).add(run_id)
        self._texts.keep(run_id, fitted(text))

    def __contains__(self, run_id: str) -> bool:
        """Whether the run is kept."""
        return run_id in self._job

    @property
    def has_room(self) -> bool:
        """Whether another tenth would still find room."""
        return self._texts.has_room

    def pack_ahead(self) -> Iterator[None]:
        """Pack runs that are at hand, too, some with each step."""
        return self._texts.pack_ahead()

    def forget(self, run_ids: Iterable[str]) -> None:
        """Something is new about these runs."""
        for run_id in run_ids:
            if run_id in self._job:
                self._texts.drop(run_id)
                self._is_no_more(run_id)

    def _is_no_more(self, run_id: str) -> None:
        job = self._job.pop(run_id)
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


@dataclass(slots=True)
class Rendered:
    """What is kept, by what it tells of; datasets by their shown names."""

    job_nodes: Kept[JobId, JobNode]
    dataset_nodes: Kept[DatasetId, bytes]
    """A dataset in a lineage graph, but for its edges."""
    runs: RunTexts
    """Runs that have ended."""

    @classmethod
    def nothing(cls, max_bytes: int = MAX_BYTES) -> "Rendered":
        """Nothing yet."""
        return cls(Kept(_JOB_NODES, max_bytes), Kept(_PLAIN, max_bytes), RunTexts(MAX_RUN_BYTES))

    @classmethod
    def beside(
        cls,
        job_nodes: Callable[[Sequence[JobId]], Mapping[JobId, JobNode]],
        dataset_nodes: Callable[[Sequence[DatasetId]], Mapping[DatasetId, bytes]],
        runs: Callable[[str], RunTexts | None],
    ) -> "Rendered":
        """Nothing yet but what these give."""
        return cls(
            KeptBeside(_JOB_NODES, MAX_BYTES, job_nodes),
            KeptBeside(_PLAIN, MAX_BYTES, dataset_nodes),
            RunTextsBeside(runs),
        )

    def forget(self, jobs: Iterable[JobId], datasets: Iterable[DatasetId]) -> None:
        """Something is new about these."""
        for job in jobs:
            self.job_nodes.drop(job)
        for name in datasets:
            self.dataset_nodes.drop(name)


def heard_of(node: bytes, seen: Seen) -> bytes:
    """A job or dataset that is rendered, as if it had been heard of first and last at other times."""
    begin = node.index(_CREATED)  # a quote within a name would have a backslash before it
    times = _CREATED, iso(seen.first_us).encode(), _UPDATED, iso(seen.last_us).encode()
    return b"".join((node[:begin], *times, node[begin + sum(map(len, times)) :]))


def made_by(edge: bytes, made: Edge) -> bytes:
    """An edge that is rendered, as if other runs had made it."""
    times = iso(made.seen.first_us).encode(), iso(made.seen.last_us).encode()
    return b'%b%b%b","lastSeen":"%b","runs":%d}' % (edge[: edge.rindex(_FIRST_SEEN)], _FIRST_SEEN, *times, made.runs)


def job_data(node: bytes, seen: Seen) -> bytes:
    """What is rendered of a job before its newest run, as `heard_of`."""
    return heard_of(node[: node.index(_LATEST_RUN)], seen)


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


_JOB_NODES: Final = Writing(_size_of_node, _written_node, _read_node)
_PLAIN: Final[Writing[bytes]] = Writing(len, bytes, bytes)
