"""JSON fragments of jobs and datasets in the graph around a node, rendered if not cached."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from typing import Final, NamedTuple

import orjson

from headwater.graph.flow import Derivation
from headwater.graph.records import Edge, Reporter
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.background import groups
from headwater.service.http.answers import iso
from headwater.service.knowledge.cache import fitted
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.render_cache import JobNode, job_data, with_runs, with_seen
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.shapes import marquez as shapes
from headwater.service.views.datasets import OF_DATASET_CORE, dataset_core
from headwater.service.views.jobs import OF_JOB_CORE, job_core, newest_runs

SLICE: Final = 64
"""Jobs rendered per time slice: about 5 ms of work."""


class Ends(NamedTuple):
    """The edges of a dataset."""

    into: list[bytes]
    out_of: list[bytes]


def dataset_node(node: bytes, ends: Ends) -> bytes:
    """A rendered dataset with its edges."""
    return b'%b,"inEdges":[%b],"outEdges":[%b]}' % (node, b",".join(ends.into), b",".join(ends.out_of))


def dataset_nodes(knowledge: Knowledge, names: Sequence[DatasetId]) -> Iterator[bytes]:
    """The datasets, in order, without their edges; rendered if not cached."""
    cached = knowledge.rendered.dataset_nodes
    found = cached.found(names)
    for name in names:
        node = found.get(name)
        if node is None:
            node = _dataset_data(knowledge, name)
            if knowledge.is_dataset(name):  # else it is known only as a source of others
                cached.keep(name, node)
        yield node


def _dataset_data(knowledge: Knowledge, name: DatasetId) -> bytes:
    elsewhere = knowledge.reusable_nodes
    alike = None if elsewhere is None else elsewhere.dataset_node(name, OF_DATASET_CORE)
    if alike is not None:
        return with_seen(alike, knowledge.seen(name))
    rest = {"id": name.node_id, "type": "DATASET", "data": dataset_core(knowledge, name)}
    return orjson.dumps(rest).removesuffix(b"}")


def job_nodes(knowledge: Knowledge, jobs: Sequence[JobId]) -> list[JobNode]:
    """The jobs, in order; rendered if not cached."""
    cached = knowledge.rendered.job_nodes
    found = cached.found(jobs)
    missing = [job for job in jobs if job not in found]
    for part in groups(missing, SLICE):
        latest = newest_runs(knowledge, part, most=1)
        for job in part:
            node = found[job] = _job_node(knowledge, job, next(iter(latest[job]), None))
            cached.keep(job, node)
    return [found[job] for job in jobs]


def _job_node(knowledge: Knowledge, job: JobId, latest: shapes.Run | None) -> JobNode:
    elsewhere = knowledge.reusable_nodes
    alike = None if elsewhere is None else elsewhere.job_node(job, OF_JOB_CORE)
    return (
        _rendered_job_node(knowledge, job, latest) if alike is None else _job_node_from(knowledge, job, latest, alike)
    )


def _job_node_from(knowledge: Knowledge, job: JobId, latest: shapes.Run | None, alike: JobNode) -> JobNode:
    """The job from its JSON for another time, which takes a third of the time of rendering it."""
    graph, activity = knowledge.graph, knowledge.activity(job)
    read, written = (graph.counted_edges(job, direction) for direction in ("input", "output"))
    reads = [(name, fitted(with_runs(edge, read[name]))) for name, edge in alike.reads]
    writes = [(name, fitted(with_runs(edge, written[name]))) for name, edge in alike.writes]
    node = b'%b,"latestRun":%b,"currentRunUuid":%b},"inEdges":[%b],"outEdges":[%b]}' % (
        job_data(alike.node, activity.seen),
        orjson.dumps(latest),
        orjson.dumps(next(iter(activity.runs), None)),
        *(b",".join(edge for _, edge in side) for side in (reads, writes)),
    )
    return JobNode(fitted(node), reads, writes)


def _rendered_job_node(knowledge: Knowledge, job: JobId, latest: shapes.Run | None) -> JobNode:
    graph = knowledge.graph
    read, written = (_visible(knowledge, graph.counted_edges(job, direction)) for direction in ("input", "output"))
    reads = [(name, fitted(edge_between(name, job, edge))) for name, edge in read]
    writes = [(name, fitted(edge_between(job, name, edge))) for name, edge in written]
    data = shapes_lineage.JobInLineage(
        **job_core(knowledge, job, latest), currentRunUuid=next(iter(knowledge.activity(job).runs), None)
    )
    node = {
        "id": job.node_id,
        "type": "JOB",
        "data": data,
        "inEdges": [orjson.Fragment(edge) for _, edge in reads],
        "outEdges": [orjson.Fragment(edge) for _, edge in writes],
    }
    return JobNode(fitted(orjson.dumps(node)), reads, writes)


def with_jobs(knowledge: Knowledge, job: JobId, node: bytes, shown: AbstractSet[JobId]) -> bytes:
    """The job with its direct edges to other jobs in the answer; few jobs have any, so these are not cached."""
    known = knowledge.graph.jobs[job]
    if not known.fed_by and not known.feeds:
        return node
    before, after = (sorted(each for each in side if each in shown) for side in (known.fed_by, known.feeds))
    shape = orjson.loads(node)
    shape["inEdges"] += [orjson.Fragment(edge_between(each, job, _handed_over(known.fed_by[each]))) for each in before]
    shape["outEdges"] += [orjson.Fragment(edge_between(job, each, _handed_over(known.feeds[each]))) for each in after]
    return orjson.dumps(shape)


def _handed_over(reporters: Mapping[Reporter, Seen]) -> Edge:
    return Edge(reduce(Seen.union, reporters.values()), sum(isinstance(reporter, str) for reporter in reporters))


def _visible(knowledge: Knowledge, edges: Mapping[DatasetId, Edge]) -> list[tuple[DatasetId, Edge]]:
    """The edges to datasets that are not deleted, by name."""
    return [(name, edges[name]) for name in sorted(edges) if not knowledge.graph.hides(name)]


def edge_between(
    origin: DatasetId | JobId, destination: DatasetId | JobId, edge: Edge, derivation: Derivation | None = None
) -> bytes:
    """An edge of the graph."""
    shape = shapes_lineage.Edge(
        origin=origin.node_id,
        destination=destination.node_id,
        firstSeen=iso(edge.seen.first_us),
        lastSeen=iso(edge.seen.last_us),
        runs=edge.runs,
    )
    if derivation is not None:
        shape["derivation"] = derivation
    return orjson.dumps(shape)
