"""The graph of jobs and datasets around a node, composed of cached JSON fragments."""

from asyncio import sleep
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from headwater.graph.walk import Neighbourhood
from headwater.model.names import ColumnId, DatasetId, JobId, without_column
from headwater.service.background import collect_in_slices, groups
from headwater.service.knowledge.cache import CompressedCache
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.render_cache import RenderCache
from headwater.service.views.lineage_nodes import (
    SLICE,
    Ends,
    dataset_node,
    dataset_nodes,
    edge_between,
    job_nodes,
    with_jobs,
)
from headwater.service.views.runs import run_texts

NodeT = TypeVar("NodeT", JobId, DatasetId)

_AT_ONCE: Final = 32
"""Jobs that may be uncached when an answer is composed: so many are rendered without yielding."""

_MANY: Final = 1_000
"""Nodes checked per step for whether they are cached."""
_FEW_JOBS: Final = 4
_FEW_DATASETS: Final = 16
_FEW_RUNS: Final = 8
"""Nodes rendered per step in the background: about a millisecond's work."""
_RUNS_OF_A_JOB: Final = 20
"""That are rendered ahead: twice as many as a page of jobs shows of one, so that there are those of a while ago too."""
_RUNS: Final = 5_000
"""That are rendered ahead of all jobs together: 10 MB, and half a second's work."""


async def lineage(knowledge: Knowledge, node: DatasetId | JobId | ColumnId, max_hops: int) -> bytes:
    """The jobs within `depth` jobs of the node, with their inputs and outputs; a column stands for its dataset.

    JSON of the shape `shapes_lineage.Lineage`. Uncached nodes are rendered in time slices, between which events may be
    learned; then the answer is composed without yielding, from one state of the graph.
    """
    await collect_in_slices(knowledge.derive_ahead())
    found = _neighbourhood(knowledge, node, max_hops)
    missing = knowledge.rendered.job_nodes.missing(found.jobs)
    if len(missing) > _AT_ONCE:
        for jobs in groups(missing, SLICE):
            job_nodes(knowledge, jobs)
            await sleep(0)
        found = _neighbourhood(knowledge, node, max_hops)
    return _composed(knowledge, without_column(node), found)


def lineage_now(knowledge: Knowledge, node: DatasetId | JobId | ColumnId, max_hops: int) -> bytes:
    """The same without yielding to the event loop, for callers that cannot await."""
    return _composed(knowledge, without_column(node), _neighbourhood(knowledge, node, max_hops))


def render_ahead(knowledge: Knowledge) -> Iterator[None]:
    """Fill the render cache with jobs (latest event first), datasets and runs while there is room, in steps.

    Indexes names for search before that, and counts datasets after it.
    """
    yield from knowledge.name_index.catch_up()
    yield from knowledge.job_tallies.catch_up()
    rendered: RenderCache | None = None
    while rendered is not knowledge.rendered:  # all was forgotten meanwhile
        rendered = knowledge.rendered
        yield from _render(knowledge, rendered)
    yield from knowledge.catch_up()


def _render(knowledge: Knowledge, rendered: RenderCache) -> Iterator[None]:
    for jobs in _missing(rendered.job_nodes, knowledge.job_tallies.newest_first().page(None), _FEW_JOBS):
        if not rendered.job_nodes.has_room or rendered is not knowledge.rendered:
            break
        job_nodes(knowledge, [job for job in jobs if knowledge.is_job(job)])
        yield
    for names in _missing(rendered.dataset_nodes, [*knowledge.graph.datasets], _FEW_DATASETS):
        if not rendered.dataset_nodes.has_room or rendered is not knowledge.rendered:
            break
        for _ in dataset_nodes(knowledge, [name for name in names if knowledge.graph.is_shown(name)]):
            pass
        yield
    yield from _render_runs(knowledge, rendered)
    for cached in (rendered.job_nodes, rendered.dataset_nodes, rendered.runs):
        yield from cached.pack_ahead()


def _render_runs(knowledge: Knowledge, rendered: RenderCache) -> Iterator[None]:
    runs_left = _RUNS
    for job in knowledge.job_tallies.newest_first().page(None):
        if runs_left <= 0 or not rendered.runs.has_room or rendered is not knowledge.rendered:
            break
        ids = knowledge.activity(job).runs[:_RUNS_OF_A_JOB] if knowledge.is_job(job) else ()
        runs_left -= len(ids)
        missing = (knowledge.run(run_id) for run_id in ids if run_id not in rendered.runs)
        for runs in groups((run for run in missing if run.ended_us is not None), _FEW_RUNS):
            run_texts(knowledge, runs)
            yield


def _missing(cached: CompressedCache[NodeT, Any], nodes: Sequence[NodeT], few: int) -> Iterator[Sequence[NodeT]]:
    """The nodes that are not cached, a few at a time; an empty step after many cached ones."""
    for some in groups(nodes, _MANY):
        missing = cached.missing(some)
        yield from groups(missing, few) if missing else ((),)


def _neighbourhood(knowledge: Knowledge, node: DatasetId | JobId | ColumnId, max_hops: int) -> Neighbourhood:
    found = knowledge.neighbourhood(without_column(node), max_hops)
    return found._replace(jobs=[job for job in found.jobs if knowledge.is_job(job)])


def _composed(knowledge: Knowledge, center: DatasetId | JobId, found: Neighbourhood) -> bytes:
    ends = {name: Ends([], []) for name in found.derived}
    if isinstance(center, DatasetId):
        ends[knowledge.graph.shown(center)] = Ends([], [])
    jobs = sorted(found.jobs, key=_node_id)
    rendered = job_nodes(knowledge, jobs)
    for node in rendered:
        for name, edge in node.reads:
            ends.setdefault(name, Ends([], [])).out_of.append(edge)
        for name, edge in node.writes:
            ends.setdefault(name, Ends([], [])).into.append(edge)
    names = sorted(ends, key=_node_id)
    if knowledge.derivations:
        _add_derivations(knowledge, names, ends)
    nodes = [dataset_node(node, ends[name]) for name, node in zip(names, dataset_nodes(knowledge, names), strict=True)]
    shown = frozenset(jobs)
    # "dataset:" comes before "job:", so all are in the order of their ids
    nodes += [with_jobs(knowledge, job, node.node, shown) for job, node in zip(jobs, rendered, strict=True)]
    return b"".join((b'{"graph":[', b",".join(nodes), b"]}"))


def _add_derivations(knowledge: Knowledge, names: Sequence[DatasetId], ends: Mapping[DatasetId, Ends]) -> None:
    """Add the edges between datasets that are both in the answer."""
    for name in names:
        for source, derived in knowledge.derivations.sources(name).items():
            if source in ends:
                edge = edge_between(source, name, derived.edge, derived.derivation)
                ends[source].out_of.append(edge)
                ends[name].into.append(edge)


def _node_id(node: DatasetId | JobId) -> str:
    return node.node_id
