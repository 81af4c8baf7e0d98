"""What lay around a node at some time, walked in the graph of a later one: edges that were not there yet are passed by.

So nothing is put together for the nodes that are only walked over.
"""

from collections.abc import Callable, Iterable, Iterator

from headwater.graph.lineage import Graph
from headwater.graph.records import Job
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
    read: set[DatasetId] = set()
    written: set[DatasetId] = set()

    def neighbours(job: JobId) -> Iterator[JobId]:
        known = jobs[job]
        for name, edge in known.reads.items():
            if name not in read and edge.seen.first_us <= until_us:
                read.add(name)
                yield from writers(name)
        for name, edge in known.writes.items():
            if name not in written and edge.seen.first_us <= until_us:
                written.add(name)
                yield from readers(name)

    def writers(name: DatasetId) -> Iterator[JobId]:
        if not are_alone((name,)):
            raise _NotToldByEdgesError
        for job in datasets[name].writers if name in datasets else ():
            known = jobs[job]
            if _is_told_by_others(known):
                raise _NotToldByEdgesError
            if known.writes[name].seen.first_us <= until_us:
                yield job

    def readers(name: DatasetId) -> Iterator[JobId]:
        if not are_alone((name,)):
            raise _NotToldByEdgesError
        for job in datasets[name].readers if name in datasets else ():
            known = jobs[job]
            if _is_told_by_others(known):
                raise _NotToldByEdgesError
            if known.reads[name].seen.first_us <= until_us:
                yield job

    try:
        if isinstance(node, JobId):
            if _is_told_by_others(jobs[node]):
                return None
            return Around([*reachable([node], neighbours, max_hops)], [])
        return Around([*reachable(sorted({*writers(node), *readers(node)}), neighbours, max_hops)], [])
    except _NotToldByEdgesError:
        return None


class _NotToldByEdgesError(Exception):
    """What there was must be looked for in another way."""


def _is_told_by_others(job: Job) -> bool:
    return bool(job.told or job.feeds or job.fed_by or job.declaration or job.declared_over)
