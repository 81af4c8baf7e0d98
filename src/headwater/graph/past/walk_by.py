"""What lay around a node at some time, walked in the graph of a later one: edges that were not there yet are passed by.

So nothing is put together for the nodes that are only walked over.
"""

from collections.abc import Callable, Iterable, Iterator

from headwater.graph.lineage import Graph
from headwater.graph.walk import Around, reachable
from headwater.model.names import DatasetId, JobId


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
                    yield from touching(name)

    def touching(name: DatasetId) -> Iterator[JobId]:
        if not are_alone((name,)):
            raise _NotToldByEdgesError
        dataset = datasets.get(name)
        for job in () if dataset is None else dataset.writers | dataset.readers:
            known = jobs[job]
            if known.is_told_by_others:
                raise _NotToldByEdgesError
            if any(name in edges and edges[name].seen.first_us <= until_us for edges in (known.reads, known.writes)):
                yield job

    try:
        if isinstance(node, JobId):
            if jobs[node].is_told_by_others:
                return None
            return Around([*reachable([node], neighbours, max_hops)], [])
        return Around([*reachable(sorted(touching(node)), neighbours, max_hops)], [])
    except _NotToldByEdgesError:
        return None


class _NotToldByEdgesError(Exception):
    """What there was must be looked for in another way."""
