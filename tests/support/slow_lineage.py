"""The lineage answer built node by node from the graph, with nothing kept: what the quick one must equal."""

from typing import Any

from headwater.graph.records import Edge
from headwater.graph.walk import reachable
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge
from headwater.service.views.datasets import dataset_core
from headwater.service.views.jobs import job_core, newest_runs

Body = dict[str, Any]
Node = DatasetId | JobId | ColumnId


def slow_lineage(knowledge: Knowledge, node: Node, max_hops: int) -> Body:
    """Jobs within so many jobs of the node, with all that they read and write, and the node itself."""
    center = node.dataset if isinstance(node, ColumnId) else node
    jobs = [job for job in _jobs_around(knowledge, center, max_hops) if knowledge.is_job(job)]
    edges = [edge for job in sorted(jobs) for edge in _edges(knowledge, job)]
    ends = {end for edge in edges for end in edge[:2] if isinstance(end, DatasetId)}
    datasets = ends | ({center} if isinstance(center, DatasetId) else set())
    nodes = [_node(name, "DATASET", dict(dataset_core(knowledge, name)), edges) for name in datasets]
    nodes += [_node(job, "JOB", _job(knowledge, job), edges) for job in jobs]
    return {"graph": sorted(nodes, key=lambda each: each["id"])}


def _jobs_around(knowledge: Knowledge, center: DatasetId | JobId, max_hops: int) -> dict[JobId, int]:
    graph = knowledge.graph
    start = [center] if isinstance(center, JobId) else sorted(graph.writers(center) | graph.readers(center))

    def neighbours(job: JobId) -> list[JobId]:
        writers = [other for name in graph.reads(job) for other in graph.writers(name)]
        readers = [other for name in graph.writes(job) for other in graph.readers(name)]
        return [*writers, *readers, *graph.jobs[job].fed_by, *graph.jobs[job].feeds]

    return reachable(start, neighbours, max_hops)


def _edges(knowledge: Knowledge, job: JobId) -> list[tuple[DatasetId | JobId, DatasetId | JobId, Edge]]:
    reads = sorted(knowledge.graph.reads(job).items())
    writes = sorted(knowledge.graph.writes(job).items())
    return [*((name, job, edge) for name, edge in reads), *((job, name, edge) for name, edge in writes)]


def _node(
    node: DatasetId | JobId, kind: str, data: Body, edges: list[tuple[DatasetId | JobId, DatasetId | JobId, Edge]]
) -> Body:
    def same(end: DatasetId | JobId) -> bool:
        return type(end) is type(node) and end == node  # as pairs, a job and a dataset may be equal

    return {
        "id": node.node_id,
        "type": kind,
        "data": data,
        "inEdges": [_shape(*edge) for edge in edges if same(edge[1])],
        "outEdges": [_shape(*edge) for edge in edges if same(edge[0])],
    }


def _shape(origin: DatasetId | JobId, destination: DatasetId | JobId, edge: Edge) -> Body:
    return {
        "origin": origin.node_id,
        "destination": destination.node_id,
        "firstSeen": iso(edge.seen.first_us),
        "lastSeen": iso(edge.seen.last_us),
        "runs": edge.runs,
    }


def _job(knowledge: Knowledge, job: JobId) -> Body:
    latest = next(iter(newest_runs(knowledge, [job], most=1)[job]), None)
    return {**job_core(knowledge, job, latest), "currentRunUuid": None if latest is None else latest["id"]}
