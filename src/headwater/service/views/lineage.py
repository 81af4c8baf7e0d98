"""The graph of jobs and datasets around a node."""

from collections.abc import Iterable, Mapping

from headwater.graph.records import Edge
from headwater.graph.walk import jobs_around
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.service import shapes
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge
from headwater.service.views.datasets import dataset_core
from headwater.service.views.jobs import job_core, newest_runs


def lineage(knowledge: Knowledge, node: DatasetId | JobId | ColumnId, max_hops: int) -> shapes.Lineage:
    """The jobs within so many jobs of the node, with all that they read and write; a column stands for its dataset."""
    center = node.dataset if isinstance(node, ColumnId) else node
    jobs = [job for job in jobs_around(knowledge.graph, center, max_hops) if knowledge.is_job(job)]
    edges = _Edges(knowledge, jobs)
    datasets = edges.datasets | ({center} if isinstance(center, DatasetId) else set())
    latest = newest_runs(knowledge, jobs, most=1)
    nodes: list[shapes.DatasetNode | shapes.JobNode] = [_dataset_node(knowledge, name, edges) for name in datasets]
    nodes += [_job_node(knowledge, job, next(iter(latest[job]), None), edges) for job in jobs]
    return shapes.Lineage(graph=sorted(nodes, key=lambda each: each["id"]))


class _Edges:
    """The edges between jobs and the datasets they touch, by the node id at either end.

    Not by the node: a job and a dataset of the same name are equal as pairs.
    """

    def __init__(self, knowledge: Knowledge, jobs: Iterable[JobId]) -> None:
        self.into: dict[str, list[shapes.Edge]] = {}
        self.out_of: dict[str, list[shapes.Edge]] = {}
        self.datasets: set[DatasetId] = set()
        for job in jobs:
            for name, edge in _visible(knowledge, knowledge.graph.reads(job)):
                self._add(name, job, edge)
                self.datasets.add(name)
            for name, edge in _visible(knowledge, knowledge.graph.writes(job)):
                self._add(job, name, edge)
                self.datasets.add(name)

    def _add(self, origin: DatasetId | JobId, destination: DatasetId | JobId, edge: Edge) -> None:
        shape = shapes.Edge(
            origin=origin.node_id,
            destination=destination.node_id,
            firstSeen=iso(edge.seen.first_us),
            lastSeen=iso(edge.seen.last_us),
            runs=edge.runs,
        )
        self.out_of.setdefault(origin.node_id, []).append(shape)
        self.into.setdefault(destination.node_id, []).append(shape)


def _visible(knowledge: Knowledge, edges: Mapping[DatasetId, Edge]) -> list[tuple[DatasetId, Edge]]:
    """Those to datasets that are not deleted, by name."""
    return [(name, edges[name]) for name in sorted(edges) if not knowledge.graph.hides(name)]


def _dataset_node(knowledge: Knowledge, name: DatasetId, edges: _Edges) -> shapes.DatasetNode:
    return shapes.DatasetNode(
        id=name.node_id,
        type="DATASET",
        data=dataset_core(knowledge, name),
        inEdges=edges.into.get(name.node_id, []),
        outEdges=edges.out_of.get(name.node_id, []),
    )


def _job_node(knowledge: Knowledge, job: JobId, latest: shapes.Run | None, edges: _Edges) -> shapes.JobNode:
    return shapes.JobNode(
        id=job.node_id,
        type="JOB",
        data=shapes.JobInLineage(
            **job_core(knowledge, job, latest), currentRunUuid=None if latest is None else latest["id"]
        ),
        inEdges=edges.into.get(job.node_id, []),
        outEdges=edges.out_of.get(job.node_id, []),
    )
