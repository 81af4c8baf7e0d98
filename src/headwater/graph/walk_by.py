"""What lay around a node at some time, walked in the graph of a later one: edges that were not there yet are passed by.

So nothing is put together for the nodes that are only walked over.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from headwater.graph.lineage import Graph
from headwater.graph.walk import Around, reachable
from headwater.model.events import Direction
from headwater.model.names import DatasetId, JobId

_READS: Final[Direction] = "input"
_WRITES: Final[Direction] = "output"


def around_by(
    graph: Graph,
    until_us: int,
    are_alone: Callable[[Iterable[DatasetId]], bool],
    node: DatasetId | JobId,
    max_hops: int,
) -> Around | None:
    """As `walk.around`, by the edges that had been made until then; no dataset is made from another without a job.

    `are_alone` says whether datasets went by one full name each, and still do; of each run its job must be the same
    too. None where edges do not tell by themselves what there was: others than a job's own runs tell of it, or a
    dataset that is come to has several names.
    """
    jobs, datasets = graph.jobs, graph.datasets
    walked: set[DatasetId] = set()

    def neighbours(job: JobId) -> Iterator[JobId]:
        known = jobs[job]
        for edges in (known.reads, known.writes):
            for name, edge in edges.items():
                if name not in walked and edge.seen.first_us <= until_us:
                    walked.add(name)
                    yield from touching(name, _WRITES)
                    yield from touching(name, _READS)

    def touching(name: DatasetId, way: Direction) -> Iterator[JobId]:
        if not are_alone((name,)):
            raise _NotToldByEdgesError
        dataset = datasets.get(name)
        if dataset is None:
            return
        for job in dataset.readers if way == _READS else dataset.writers:
            known = jobs[job]
            if known.is_told_by_others:
                raise _NotToldByEdgesError
            if (known.reads if way == _READS else known.writes)[name].seen.first_us <= until_us:
                yield job

    try:
        if isinstance(node, JobId):
            if jobs[node].is_told_by_others:
                return None
            return Around([*reachable([node], neighbours, max_hops)], [])
        start = sorted({*touching(node, _WRITES), *touching(node, _READS)})
        return Around([*reachable(start, neighbours, max_hops)], [])
    except _NotToldByEdgesError:
        return None


class _NotToldByEdgesError(Exception):
    """What there was must be looked for in another way."""
