"""Reference lineage answer, built node by node without caches; the package's must equal it."""

from functools import reduce
from typing import Any

from headwater.graph.flow import sources_of
from headwater.graph.records import Edge
from headwater.graph.walk import reachable
from headwater.model.events import Direction
from headwater.model.merging import Seen
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.views.datasets import dataset_core
from headwater.service.views.jobs import job_core
from headwater.service.views.runs import run_shapes

Body = dict[str, Any]
Node = DatasetId | JobId | ColumnId
_Edge = tuple[DatasetId | JobId, DatasetId | JobId, Edge, str | None]
"""From, to, counts, and the facet that reports it if there is no job."""


def slow_lineage(knowledge: Knowledge, node: Node, max_hops: int) -> Body:
    """Jobs within this many jobs of the node, with their inputs and outputs, and the node itself."""
    center = node.dataset if isinstance(node, ColumnId) else node
    derived = _derived(knowledge)
    jobs, derived_names = _around(knowledge, derived, center, max_hops)
    jobs = [job for job in jobs if knowledge.is_job(job)]
    edges = [edge for job in sorted(jobs) for edge in _edges(knowledge, job)]
    ends = {end for edge in edges for end in edge[:2] if isinstance(end, DatasetId)}
    datasets = ends | {*derived_names} | ({center} if isinstance(center, DatasetId) else set())
    edges += [edge for edge in derived if {*edge[:2]} <= datasets]
    edges += _handed_over(knowledge, jobs)
    nodes = [_node(name, "DATASET", dict(dataset_core(knowledge, name)), edges) for name in datasets]
    nodes += [_node(job, "JOB", _job(knowledge, job), edges) for job in jobs]
    return {"graph": sorted(nodes, key=lambda each: each["id"])}


def _around(
    knowledge: Knowledge, derived: list[_Edge], center: DatasetId | JobId, max_hops: int
) -> tuple[list[JobId], list[DatasetId]]:
    graph = knowledge.graph

    def joined(name: DatasetId) -> list[tuple[str, Any]]:
        ends = [edge[:2] for edge in derived if name in edge[:2]]
        return [("dataset", end) for pair in ends for end in pair if end != name]

    def neighbours(step: tuple[str, Any]) -> list[tuple[str, Any]]:
        return [each for each in sharing_data(step) if not graph.hides(each[1])]

    def sharing_data(step: tuple[str, Any]) -> list[tuple[str, Any]]:
        kind, node = step
        if kind == "dataset":
            return [*(("job", job) for job in graph.writers(node) | graph.readers(node)), *joined(node)]
        touched = [*filter(graph.shows, (*graph.reads(node), *graph.writes(node)))]
        sharing = [other for name in touched for other in graph.writers(name) | graph.readers(name)]
        jobs = [*sharing, *graph.jobs[node].fed_by, *graph.jobs[node].feeds]
        datasets = [each for name in touched for each in joined(name)]
        return [*(("job", job) for job in jobs), *datasets]

    start = [("job", center)] if isinstance(center, JobId) else neighbours(("dataset", center))
    steps = reachable(start, neighbours, max_hops)
    return [node for kind, node in steps if kind == "job"], [node for kind, node in steps if kind == "dataset"]


def _derived(knowledge: Knowledge) -> list[_Edge]:
    """Edges between datasets without a job."""
    graph = knowledge.graph
    edges: list[_Edge] = []
    names = {graph.shown(name) for name in graph.datasets}
    for target in sorted((name for name in names if not graph.hides(name)), key=lambda name: name.node_id):
        if not target.is_complete:
            continue
        reported = {
            source: edge for source, edge in sources_of(graph, target).items() if "outputs" not in source.derivation
        }
        for name in sorted({source.dataset for source in reported} - {target}):
            mine = {source.derivation: edge for source, edge in reported.items() if source.dataset == name}
            is_taken = any(name in graph.reads(job) for job in graph.writers(target))
            if not is_taken and not graph.hides(name):
                seen = reduce(Seen.union, (edge.seen for edge in mine.values()))
                edge = Edge(seen, sum(edge.runs for edge in mine.values()))
                edges.append((name, target, edge, max(mine)))  # "lineage" sorts last, and takes precedence
    return edges


def _handed_over(knowledge: Knowledge, jobs: list[JobId]) -> list[_Edge]:
    feeds = [(job, other, reported) for job in jobs for other, reported in knowledge.graph.jobs[job].feeds.items()]
    return [
        (
            job,
            other,
            Edge(reduce(Seen.union, reported.values()), sum(isinstance(by, str) for by in reported)),
            None,
        )
        for job, other, reported in sorted(feeds, key=lambda each: each[:2])
        if other in jobs
    ]


def _edges(knowledge: Knowledge, job: JobId) -> list[_Edge]:
    graph = knowledge.graph
    reads = sorted((name, edge.seen) for name, edge in graph.reads(job).items() if graph.shows(name))
    writes = sorted((name, edge.seen) for name, edge in graph.writes(job).items() if graph.shows(name))
    return [
        *((name, job, Edge(seen, _runs(knowledge, job, "input", name)), None) for name, seen in reads),
        *((job, name, Edge(seen, _runs(knowledge, job, "output", name)), None) for name, seen in writes),
    ]


def _runs(knowledge: Knowledge, job: JobId, direction: Direction, name: DatasetId) -> int:
    """The number of the job's runs, and of others that report it of the job, that name the dataset on that side."""
    graph = knowledge.graph
    ends = {(direction, member) for member in graph.members(name)}
    own = [run_id for run_id in graph.jobs[job].runs if ends & graph.runs[run_id].observed.keys()]
    others = [by for end, reporters in graph.jobs[job].reported.items() if end in ends for by in reporters]
    return len({*own, *(by for by in others if isinstance(by, str))})


def _node(node: DatasetId | JobId, kind: str, data: Body, edges: list[_Edge]) -> Body:
    def same(end: DatasetId | JobId) -> bool:
        return type(end) is type(node) and end == node  # as pairs, a job and a dataset may be equal

    return {
        "id": node.node_id,
        "type": kind,
        "data": data,
        "inEdges": [_shape(*edge) for edge in edges if same(edge[1])],
        "outEdges": [_shape(*edge) for edge in edges if same(edge[0])],
    }


def _shape(origin: DatasetId | JobId, destination: DatasetId | JobId, edge: Edge, derivation: str | None) -> Body:
    return {
        **({} if derivation is None else {"derivation": derivation}),
        "origin": origin.node_id,
        "destination": destination.node_id,
        "firstSeen": iso(edge.seen.first_us),
        "lastSeen": iso(edge.seen.last_us),
        "runs": edge.runs,
    }


def _job(knowledge: Knowledge, job: JobId) -> Body:
    newest = (knowledge.run(run_id) for run_id in knowledge.activity(job).runs[:1])
    latest = next(iter(run_shapes(knowledge, newest)), None)
    return {**job_core(knowledge, job, latest), "currentRunUuid": None if latest is None else latest["id"]}
