"""The past neighbourhood of a node, walked in a later graph by skipping edges that did not exist yet.

So no past record is assembled for nodes that are only passed.
"""

from collections.abc import Callable, Iterator

from headwater.graph.lineage import Graph
from headwater.graph.walk import Neighbourhood, reachable
from headwater.model.names import DatasetId, JobId


def past_neighbourhood(
    graph: Graph,
    until_us: int,
    is_alone: Callable[[DatasetId], bool],
    node: DatasetId | JobId,
    max_hops: int,
) -> Neighbourhood | None:
    """As `walk.neighbourhood`, by the edges that existed by then; without datasets derived from others without a job.

    `is_alone` says whether a dataset has and had one complete name; each run must have the same job as then. None where
    edges alone do not determine the past: others than a job's own runs report it, or a dataset has several names.
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
        if not is_alone(name):
            raise _NotDeterminedByEdgesError
        dataset = datasets.get(name)
        if dataset is None:
            return
        is_whole = dataset.observed is not None and dataset.observed.last_us <= until_us
        for job in dataset.writers | dataset.readers:
            known = jobs[job]
            if known.is_reported_by_others:
                raise _NotDeterminedByEdgesError
            if is_whole:
                yield job
                continue
            edge, other = known.reads.get(name), known.writes.get(name)
            if (edge and edge.seen.first_us <= until_us) or (other and other.seen.first_us <= until_us):
                yield job

    try:
        if isinstance(node, JobId):
            if jobs[node].is_reported_by_others:
                return None
            return Neighbourhood([*reachable([node], neighbours, max_hops)], [])
        return Neighbourhood([*reachable(sorted(touching(node)), neighbours, max_hops)], [])
    except _NotDeterminedByEdgesError:
        return None


class _NotDeterminedByEdgesError(Exception):
    """The past must be determined in another way."""
