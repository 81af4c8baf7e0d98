"""The graph of jobs and datasets around a node, put together from parts that are kept as JSON."""

from asyncio import sleep
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from typing import Any, Final, NamedTuple, TypeVar

import orjson

from headwater.graph.flow import Derivation
from headwater.graph.records import Edge, Teller
from headwater.graph.walk import Around
from headwater.model.merging import Seen
from headwater.model.names import ColumnId, DatasetId, JobId, without_column
from headwater.service.ahead import groups, in_turns
from headwater.service.http.answers import iso
from headwater.service.knowledge.kept import Kept, fitted
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.rendered import JobNode, Rendered, heard_of, job_data, made_by
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.shapes import marquez as shapes
from headwater.service.views.datasets import OF_DATASET_CORE, dataset_core
from headwater.service.views.jobs import OF_JOB_CORE, job_core, newest_runs
from headwater.service.views.names import names_of
from headwater.service.views.runs import run_texts

NodeT = TypeVar("NodeT", JobId, DatasetId)

_SLICE: Final = 64
"""Jobs that are rendered in one go: about 5 ms of work, then it is others' turn."""
_AT_ONCE: Final = 32
"""Jobs that may be missing where an answer is put together: so many wait for nobody's turn."""

_MANY: Final = 1_000
"""Nodes that are looked at in one go for whether they are rendered."""
_FEW_JOBS: Final = 4
_FEW_DATASETS: Final = 16
_FEW_RUNS: Final = 8
"""What is rendered in one go while nobody waits for it: about a millisecond's work."""
_RUNS_OF_A_JOB: Final = 20
"""That are rendered ahead: twice as many as a page of jobs shows of one, so that there are those of a while ago too."""
_RUNS: Final = 5_000
"""That are rendered ahead of all jobs together: 10 MB, and half a second's work."""


async def lineage(knowledge: Knowledge, node: DatasetId | JobId | ColumnId, max_hops: int) -> bytes:
    """The jobs within so many jobs of the node, with all that they read and write; a column stands for its dataset.

    JSON of the shape `shapes_lineage.Lineage`. What is missing is rendered in slices, between which events are learned;
    then the answer is put together in one go, from one state of the graph.
    """
    await in_turns(knowledge.derivations.catch_up())
    found = _around(knowledge, node, max_hops)
    missing = knowledge.rendered.job_nodes.missing(found.jobs)
    if len(missing) > _AT_ONCE:
        for jobs in groups(missing, _SLICE):
            job_nodes(knowledge, jobs)
            await sleep(0)
        found = _around(knowledge, node, max_hops)
    return _put_together(knowledge, without_column(node), found)


def lineage_now(knowledge: Knowledge, node: DatasetId | JobId | ColumnId, max_hops: int) -> bytes:
    """What `lineage` answers, put together in one go, for who cannot let others have their turn."""
    return _put_together(knowledge, without_column(node), _around(knowledge, node, max_hops))


def render_ahead(knowledge: Knowledge) -> Iterator[None]:
    """Render jobs, those heard of last first, datasets and runs while there is room, some with each step.

    Before that, names are indexed for search; after it, datasets are counted.
    """
    yield from knowledge.name_index.catch_up()
    yield from knowledge.job_tallies.count_up()
    rendered: Rendered | None = None
    while rendered is not knowledge.rendered:  # all was forgotten meanwhile
        rendered = knowledge.rendered
        yield from _render(knowledge, rendered)
    yield from knowledge.count_up()


def _render(knowledge: Knowledge, rendered: Rendered) -> Iterator[None]:
    for jobs in _missing(rendered.job_nodes, knowledge.job_tallies.newest_first().page(None), _FEW_JOBS):
        if not rendered.job_nodes.has_room or rendered is not knowledge.rendered:
            break
        job_nodes(knowledge, [job for job in jobs if knowledge.is_job(job)])
        yield
    for names in _missing(rendered.dataset_nodes, [*knowledge.graph.datasets], _FEW_DATASETS):
        if not rendered.dataset_nodes.has_room or rendered is not knowledge.rendered:
            break
        for _ in _dataset_nodes(knowledge, [name for name in names if knowledge.graph.is_shown(name)]):
            pass
        yield
    yield from _render_runs(knowledge, rendered)
    for kept in (rendered.job_nodes, rendered.dataset_nodes, rendered.runs):
        yield from kept.pack_ahead()


def _render_runs(knowledge: Knowledge, rendered: Rendered) -> Iterator[None]:
    left = _RUNS
    for job in knowledge.job_tallies.newest_first().page(None):
        if left <= 0 or not rendered.runs.has_room or rendered is not knowledge.rendered:
            break
        ids = knowledge.activity(job).runs[:_RUNS_OF_A_JOB] if knowledge.is_job(job) else ()
        left -= len(ids)
        missing = (knowledge.run(run_id) for run_id in ids if run_id not in rendered.runs)
        for runs in groups((run for run in missing if run.ended_us is not None), _FEW_RUNS):
            run_texts(knowledge, runs)
            yield


def _missing(kept: Kept[NodeT, Any], nodes: Sequence[NodeT], few: int) -> Iterator[Sequence[NodeT]]:
    """The nodes of which nothing is kept, a few at a time, or none where many were looked at and none was missing."""
    for some in groups(nodes, _MANY):
        missing = kept.missing(some)
        yield from groups(missing, few) if missing else ((),)


def _around(knowledge: Knowledge, node: DatasetId | JobId | ColumnId, max_hops: int) -> Around:
    found = knowledge.around(without_column(node), max_hops)
    return found._replace(jobs=[job for job in found.jobs if knowledge.is_job(job)])


class _Ends(NamedTuple):
    """The edges at a dataset."""

    into: list[bytes]
    out_of: list[bytes]


def _put_together(knowledge: Knowledge, center: DatasetId | JobId, found: Around) -> bytes:
    ends = {name: _Ends([], []) for name in found.made}
    if isinstance(center, DatasetId):
        ends[knowledge.graph.shown(center)] = _Ends([], [])
    jobs = sorted(found.jobs, key=_node_id)
    rendered = job_nodes(knowledge, jobs)
    for node in rendered:
        for name, edge in node.reads:
            ends.setdefault(name, _Ends([], [])).out_of.append(edge)
        for name, edge in node.writes:
            ends.setdefault(name, _Ends([], [])).into.append(edge)
    names = sorted(ends, key=_node_id)
    if knowledge.derivations:
        _add_derivations(knowledge, names, ends)
    nodes = [
        _dataset_node(node, ends[name]) for name, node in zip(names, _dataset_nodes(knowledge, names), strict=True)
    ]
    shown = frozenset(jobs)
    # "dataset:" comes before "job:", so all are in the order of their ids
    nodes += [_with_jobs(knowledge, job, node.node, shown) for job, node in zip(jobs, rendered, strict=True)]
    return b"".join((b'{"graph":[', b",".join(nodes), b"]}"))


def _add_derivations(knowledge: Knowledge, names: Sequence[DatasetId], ends: Mapping[DatasetId, _Ends]) -> None:
    """Add the edges between datasets that are both there."""
    for name in names:
        for source, told in knowledge.derivations.sources(name).items():
            if source in ends:
                edge = _edge(source, name, told.edge, told.derivation)
                ends[source].out_of.append(edge)
                ends[name].into.append(edge)


def _node_id(node: DatasetId | JobId) -> str:
    return node.node_id


# Datasets


def _dataset_node(node: bytes, ends: _Ends) -> bytes:
    return b'%b,"inEdges":[%b],"outEdges":[%b]}' % (node, b",".join(ends.into), b",".join(ends.out_of))


def _dataset_nodes(knowledge: Knowledge, names: Sequence[DatasetId]) -> Iterator[bytes]:
    """The datasets, in their order, but for their edges; rendered where that was not done before."""
    kept = knowledge.rendered.dataset_nodes
    found = kept.found(names)
    for name in names:
        node = found.get(name)
        if node is None:
            node = _dataset_data(knowledge, name)
            if knowledge.is_dataset(name):  # else it is known by what others tell of it
                kept.keep(name, node)
        yield node


def _dataset_data(knowledge: Knowledge, name: DatasetId) -> bytes:
    elsewhere = knowledge.rendered_elsewhere
    alike = None if elsewhere is None else elsewhere.dataset_node(name, OF_DATASET_CORE)
    if alike is not None:
        return heard_of(alike, knowledge.seen(name))
    rest = {"id": name.node_id, "type": "DATASET", "data": dataset_core(knowledge, name)}
    return orjson.dumps(rest).removesuffix(b"}")


# Jobs


def job_nodes(knowledge: Knowledge, jobs: Sequence[JobId]) -> list[JobNode]:
    """The jobs, in their order, rendered where that was not done before."""
    kept = knowledge.rendered.job_nodes
    found = kept.found(jobs)
    missing = [job for job in jobs if job not in found]
    for part in groups(missing, _SLICE):
        latest = newest_runs(knowledge, part, most=1)
        for job in part:
            node = found[job] = _job_node(knowledge, job, next(iter(latest[job]), None))
            kept.keep(job, node)
    return [found[job] for job in jobs]


def _job_node(knowledge: Knowledge, job: JobId, latest: shapes.Run | None) -> JobNode:
    elsewhere = knowledge.rendered_elsewhere
    alike = None if elsewhere is None else elsewhere.job_node(job, OF_JOB_CORE)
    return _job_node_anew(knowledge, job, latest) if alike is None else _told_otherwise(knowledge, job, latest, alike)


def _told_otherwise(knowledge: Knowledge, job: JobId, latest: shapes.Run | None, alike: JobNode) -> JobNode:
    """The job from what is rendered of it elsewhere: that takes a third of the time."""
    known, done = knowledge.graph.jobs[job], knowledge.activity(job)
    reads = [(name, fitted(made_by(edge, known.reads[name]))) for name, edge in alike.reads]
    writes = [(name, fitted(made_by(edge, known.writes[name]))) for name, edge in alike.writes]
    node = b'%b,"latestRun":%b,"currentRunUuid":%b},"inEdges":[%b],"outEdges":[%b]}' % (
        job_data(alike.node, done.seen),
        orjson.dumps(latest),
        orjson.dumps(next(iter(done.runs), None)),
        *(b",".join(edge for _, edge in side) for side in (reads, writes)),
    )
    return JobNode(fitted(node), reads, writes)


def _job_node_anew(knowledge: Knowledge, job: JobId, latest: shapes.Run | None) -> JobNode:
    graph = knowledge.graph
    reads = [(name, fitted(_edge(name, job, edge))) for name, edge in _visible(knowledge, graph.reads(job))]
    writes = [(name, fitted(_edge(job, name, edge))) for name, edge in _visible(knowledge, graph.writes(job))]
    data = shapes_lineage.JobInLineage(
        **job_core(knowledge, job, latest), currentRunUuid=next(iter(knowledge.activity(job).runs), None)
    )
    data["inputs"], data["outputs"] = (names_of(name for name, _ in side) for side in (reads, writes))
    node = {
        "id": job.node_id,
        "type": "JOB",
        "data": data,
        "inEdges": [orjson.Fragment(edge) for _, edge in reads],
        "outEdges": [orjson.Fragment(edge) for _, edge in writes],
    }
    return JobNode(fitted(orjson.dumps(node)), reads, writes)


def _with_jobs(knowledge: Knowledge, job: JobId, node: bytes, shown: AbstractSet[JobId]) -> bytes:
    """The job, also with the edges to other jobs that are there; few jobs have any, so they are not kept."""
    known = knowledge.graph.jobs[job]
    if not known.fed_by and not known.feeds:
        return node
    before, after = (sorted(each for each in side if each in shown) for side in (known.fed_by, known.feeds))
    shape = orjson.loads(node)
    shape["inEdges"] += [orjson.Fragment(_edge(each, job, _handed_over(known.fed_by[each]))) for each in before]
    shape["outEdges"] += [orjson.Fragment(_edge(job, each, _handed_over(known.feeds[each]))) for each in after]
    return orjson.dumps(shape)


def _handed_over(tellers: Mapping[Teller, Seen]) -> Edge:
    return Edge(reduce(Seen.union, tellers.values()), sum(isinstance(teller, str) for teller in tellers))


def _visible(knowledge: Knowledge, edges: Mapping[DatasetId, Edge]) -> list[tuple[DatasetId, Edge]]:
    """Those to datasets that are not deleted, by name."""
    return [(name, edges[name]) for name in sorted(edges) if not knowledge.graph.hides(name)]


def _edge(
    origin: DatasetId | JobId, destination: DatasetId | JobId, edge: Edge, derivation: Derivation | None = None
) -> bytes:
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
