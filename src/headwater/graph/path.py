"""The data's path through a job or dataset: its sources, and the data derived from it, edge by edge.

Of all that a job reads and writes, only pairs count that events connect (`sources_of`). Data that a job gets directly
from another job may go into any output without reported sources.
"""

import sys
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from headwater.graph.flow import INFERRED, sources_of, sources_through
from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId, GraphNode, JobId


class Step(NamedTuple):
    """An edge in the direction of the data, and the node at its far end if the walk continues there."""

    origin: GraphNode
    destination: GraphNode
    onward: GraphNode | None = None


class Path(NamedTuple):
    """The edges, by their ends; `is_cut`: more lie further away."""

    edges: list[tuple[GraphNode, GraphNode]]
    is_cut: bool


def path(graph: Graph, start: GraphNode, max_hops: int, most: int) -> Generator[None, None, Path]:
    """Everything within `max_hops` jobs up- and downstream; each way, at most the `most` nearest nodes are expanded.

    Yields between steps, so that other work can run.
    """
    data, edges = _Data(graph), dict[tuple[str, str], tuple[GraphNode, GraphNode]]()
    is_cut = False
    for steps_from in (data.upstream, partial(data.downstream, start)):
        is_cut = (yield from _walk(start, steps_from, max_hops, most, edges)) or is_cut
    return Path([edges[key] for key in sorted(edges)], is_cut)


class PathTo(NamedTuple):
    """The edges upstream of a node, by their ends."""

    edges: Sequence[tuple[GraphNode, GraphNode]] = ()
    through: Mapping[tuple[DatasetId, JobId], Sequence[GraphNode]] = {}
    """For a dataset and a job that writes it: what of all that the job reads or is given goes into the dataset."""

    @property
    def jobs(self) -> list[JobId]:
        """The jobs on the path."""
        return sorted({end for edge in self.edges for end in edge if isinstance(end, JobId)})

    @property
    def datasets(self) -> set[DatasetId]:
        """The datasets on the path."""
        return {end for edge in self.edges for end in edge if isinstance(end, DatasetId)}


def path_to(graph: Graph, start: GraphNode) -> PathTo:
    """Everything upstream of a job or dataset."""
    edges: dict[tuple[str, str], tuple[GraphNode, GraphNode]] = {}
    through: dict[tuple[DatasetId, JobId], list[GraphNode]] = {}
    upstream = _Data(graph).upstream

    def noted(node: GraphNode) -> Iterator[Step]:
        for step in upstream(node):
            if isinstance(node, DatasetId) and isinstance(step.destination, JobId):
                through.setdefault((node, step.destination), []).append(step.origin)
            elif isinstance(node, DatasetId) and isinstance(step.origin, JobId):
                through.setdefault((node, step.origin), [])
            yield step

    for _ in _walk(start, noted, sys.maxsize, sys.maxsize, edges):
        pass
    return PathTo([edges[key] for key in sorted(edges)], through)


def _walk(
    start: GraphNode,
    steps_from: Callable[[GraphNode], Iterator[Step | None]],
    max_hops: int,
    most: int,
    edges: dict[tuple[str, str], tuple[GraphNode, GraphNode]],
) -> Generator[None, None, bool]:
    """Collect the edges one way; returns whether more lie further away."""
    hops, left_out = {_key(start): 0}, dict[tuple[type[GraphNode], GraphNode], GraphNode]()
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for step in steps_from(node):
            yield
            if step is None:
                continue
            edges[_ends(step)] = step.origin, step.destination
            if step.onward is None or (key := _key(step.onward)) in hops:
                continue
            if len(hops) < most and hops[_key(node)] < max_hops:
                hops[key] = hops[_key(node)] + 1
                queue.append(step.onward)
            else:
                left_out[key] = step.onward
    return (yield from _lead_on(left_out.values(), steps_from, edges))


def _lead_on(
    nodes: Iterable[GraphNode],
    steps_from: Callable[[GraphNode], Iterator[Step | None]],
    edges: Container[tuple[str, str]],
) -> Generator[None, None, bool]:
    """Whether a node has a step that is not among the edges: most readers of a hub have none."""
    for node in nodes:
        for step in steps_from(node):
            yield
            if step is not None and _ends(step) not in edges:
                return True
    return False


def _ends(step: Step) -> tuple[str, str]:
    return step.origin.node_id, step.destination.node_id


def _key(node: GraphNode) -> tuple[type[GraphNode], GraphNode]:
    """Keyed by type too: a job and a dataset may have the same name."""
    return type(node), node


class _Data:
    """Data flow over one state of the graph; each dataset's sources are computed once."""

    def __init__(self, graph: Graph) -> None:
        # The cached functions do not refer to this object: their caches are freed with it, without a garbage
        # collection.
        self._graph = graph
        self._made_from = cache(partial(_made_from, graph))
        self._through = cache(partial(sources_through, graph))

    def upstream(self, node: GraphNode) -> Iterator[Step]:
        """The steps that lead to a node."""
        graph = self._graph
        if isinstance(node, JobId):
            yield from (Step(source, node, source) for source in self._shown(graph.reads(node)))
            yield from (Step(giver, node, giver) for giver in self._known(graph.jobs[node].fed_by))
            return
        made_from = self._made_from(node)
        for job in self._known(graph.writers(node)):
            yield Step(job, node)
            for giver in self._known(graph.jobs[job].fed_by) if not made_from.is_reported else ():
                yield Step(giver, job, giver)
        for source, is_reported in made_from.sources.items():
            carriers = self._carriers(source, node)
            yield from (Step(source, job, source) for job in carriers)
            if not carriers and is_reported and source != node:
                yield Step(source, node, source)

    def downstream(self, start: GraphNode, node: GraphNode) -> Iterator[Step | None]:
        """The steps that lead from a node, None for each candidate that leads nowhere; of the start, all it writes."""
        graph = self._graph
        if isinstance(node, JobId):
            for target in self._shown(graph.writes(node)):
                if _key(node) == _key(start) or not self._made_from(target).is_reported:
                    yield Step(node, target, target)
            yield from (Step(node, taker, taker) for taker in self._known(graph.jobs[node].feeds))
            return
        readers = self._known(graph.readers(node))
        for job in readers:
            yield Step(node, job)
            yield from (Step(job, taker, taker) for taker in self._known(graph.jobs[job].feeds))
        written = {graph.shown(target) for job in readers for target in graph.jobs[job].writes}
        for target in self._shown(written | graph.fed_by(node)):
            yield None
            is_reported = self._made_from(target).sources.get(node)
            if is_reported is not None:
                carriers = self._carriers(node, target)
                yield from (Step(job, target, target) for job in carriers)
                if not carriers and is_reported and target != node:
                    yield Step(node, target, target)

    def _carriers(self, source: DatasetId, target: DatasetId) -> list[JobId]:
        """The jobs that carry data from the one to the other; if events do not say, all that might."""
        jobs = self._known(self._graph.readers(source) & self._graph.writers(target))
        if len(jobs) < 2:
            return jobs
        return [job for job in jobs if source in self._through(job, target)] or jobs

    def _known(self, jobs: Iterable[JobId]) -> list[JobId]:
        graph = self._graph
        return sorted(job for job in jobs if graph.has_job(job) and not graph.hides(job))

    def _shown(self, names: Iterable[DatasetId]) -> list[DatasetId]:
        return sorted(filter(self._graph.shows, names))


class _MadeFrom(NamedTuple):
    """The sources of a dataset, sorted; `is_reported`: all of them are reported, or an empty list is."""

    sources: dict[DatasetId, bool]
    """Whether an edge between the two datasets is reported, which outlives the job, or only a job's inputs."""
    is_reported: bool


def _made_from(graph: Graph, name: DatasetId) -> _MadeFrom:
    found = sources_of(graph, name)
    known = (graph.datasets[member] for member in graph.members(name) if member in graph.datasets)
    is_reported = any(dataset.evidence for dataset in known) and all(each.derivation != INFERRED for each in found)
    sources = dict.fromkeys(sorted(each.dataset for each in found), False)
    sources |= {each.dataset: True for each in found if each.derivation != INFERRED}
    return _MadeFrom(sources, is_reported)
