"""Walks over the graph: the nodes within a number of hops, and the neighbourhood of a node."""

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable
from typing import NamedTuple, TypeVar

from headwater.graph.derived import Derivations
from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId, JobId

NodeT = TypeVar("NodeT", bound=Hashable)


def reachable(
    start: Iterable[NodeT], neighbours: Callable[[NodeT], Iterable[NodeT]], max_hops: int
) -> dict[NodeT, int]:
    """Every node within `max_hops` edges of a start node, mapped to its distance in hops.

    Nearest first; start nodes are at 0. Cycles are fine: each node is visited once.
    """
    steps = walked(start, neighbours, max_hops)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            hops: dict[NodeT, int] = end.value
            return hops


def walked(
    start: Iterable[NodeT], neighbours: Callable[[NodeT], Iterable[NodeT]], max_hops: int
) -> Generator[None, None, dict[NodeT, int]]:
    """As `reachable`, yielding at each node so that other work can run in between."""
    hops = dict.fromkeys(start, 0)
    queue = deque(hops)
    while queue:
        yield
        node = queue.popleft()
        if hops[node] == max_hops:
            continue
        for neighbour in neighbours(node):
            if neighbour not in hops:
                hops[neighbour] = hops[node] + 1
                queue.append(neighbour)
    return hops


class DerivedDataset(NamedTuple):
    """A dataset reached from another without a job; wrapped, since it may equal a job's name."""

    dataset: DatasetId


class Neighbourhood(NamedTuple):
    """The jobs near a node, and the datasets reached without a job."""

    jobs: list[JobId]
    derived: list[DatasetId]


def neighbourhood(graph: Graph, derivations: Derivations, node: DatasetId | JobId, max_hops: int) -> Neighbourhood:
    """Everything within `max_hops` jobs of a job or dataset; jobs that touch the start dataset are at 0.

    Two jobs are neighbours if they share a dataset or hand data over directly. A dataset derived from another without a
    job counts as one hop. The walk does not pass deleted nodes.
    """
    touched: set[DatasetId] = set()
    shown: set[DatasetId] = set()

    def neighbours(step: JobId | DerivedDataset) -> Iterable[JobId | DerivedDataset]:
        return of_job(step) if isinstance(step, JobId) else of_dataset(step.dataset)

    def of_job(job: JobId) -> Iterable[JobId | DerivedDataset]:
        known = graph.jobs[job]
        for dataset in (known.reads.keys() | known.writes.keys()) - touched:  # once: a hub has thousands of readers
            touched.add(dataset)
            name = graph.shown(dataset)
            if name not in shown and graph.shows(name):  # once for a table's thousand partitions
                shown.add(name)
                yield from of_dataset(name)
        yield from standing((*known.fed_by, *known.feeds))

    def of_dataset(dataset: DatasetId) -> Iterable[JobId | DerivedDataset]:
        yield from standing(graph.writers(dataset) | graph.readers(dataset))
        yield from derived_neighbours(dataset)

    def standing(jobs: Iterable[JobId]) -> Iterable[JobId]:
        return (job for job in jobs if not graph.hides(job))

    def derived_neighbours(dataset: DatasetId) -> Iterable[DerivedDataset]:
        return map(DerivedDataset, derivations.neighbours(graph.shown(dataset))) if derivations else ()

    start = [node] if isinstance(node, JobId) else of_dataset(node)
    steps = reachable(start, neighbours, max_hops)
    return Neighbourhood(
        [step for step in steps if isinstance(step, JobId)],
        [step.dataset for step in steps if isinstance(step, DerivedDataset)],
    )
