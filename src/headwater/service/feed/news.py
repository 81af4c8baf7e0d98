"""What an event adds to the graph, for listeners: a run's new state, new edges, changed schemas."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, Literal, NamedTuple, cast

from headwater.graph.lineage import Graph
from headwater.model import strict_json
from headwater.model.events import Direction
from headwater.model.facts import (
    Content,
    Declaration,
    DeclaredTimes,
    Fact,
    JobFlow,
    Observation,
    ObservedFacet,
    RunOfJob,
    RunState,
)
from headwater.model.flow_facts import Flow
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.activity import known_run

_SCHEMA: Final = "schema"
EdgeKind = Direction | Literal["feeds"]
DatasetEdge = tuple[JobId, Direction, DatasetId]
Edge = tuple[JobId, EdgeKind, DatasetId | JobId]
"""A job, and a dataset that it reads or writes, or a job that it feeds directly."""


class News(NamedTuple):
    """The state of the event's run after it, and what is new in the graph; datasets by shown names."""

    state: RunState | None = None
    edges: Sequence[Edge] = ()
    schemas: Sequence[DatasetId] = ()
    """Datasets whose newest schema changed, or is the first."""


def noticing(graph: Graph, facts: Sequence[Fact]) -> Callable[[], News]:
    """Take a snapshot before the facts are added; call the returned function afterwards for what is new."""
    runs, observations, flows, declared, schemas = (
        list[RunOfJob](),
        list[Observation](),
        list[Flow](),
        list[JobId | DatasetId](),
        set[DatasetId](),
    )
    for fact in facts:
        if isinstance(fact, Observation):
            observations.append(fact)
        elif isinstance(fact, ObservedFacet):
            if fact.name == _SCHEMA and fact.is_of_dataset and _is_other(graph, fact, facts):
                schemas.add(fact.dataset)
        elif isinstance(fact, RunOfJob):
            runs.append(fact)
        elif isinstance(fact, JobFlow):
            flows.append(Flow(fact.source, fact.target))
        elif isinstance(fact, Declaration):
            flows.extend(graph.flows_reported_by(fact))
        elif isinstance(fact, DeclaredTimes):
            declared.append(fact.node)
    jobs = [_job_of(graph, run) for run in runs]
    edges: set[Edge] = {(job, fact.direction, fact.dataset) for job in jobs for fact in observations}
    edges |= {edge for flow in flows for edge in _edges(flow, jobs)}
    edges |= {
        (job, *end) for job, run in zip(jobs, runs, strict=True) for end in _brought_along(graph, run.run_id, job)
    }
    candidates = {edge for edge in edges if edge[2] not in _ends(graph, *edge[:2])}
    shown_before = {(job, direction): _shown_ends(graph, job, direction) for job, direction, _ in candidates}
    had = _declared_edges(graph, declared)
    was = {name: _schema(graph, name) for name in declared if isinstance(name, DatasetId)}

    def news() -> News:
        had_as_shown = {(job, direction, graph.shown(name)) for job, direction, name in had}
        new = {*_new_edges(graph, candidates, shown_before)} | (_declared_edges(graph, declared) - had_as_shown)
        changed = schemas | {name for name, schema in was.items() if _schema(graph, name) != schema}
        known = known_run(graph, runs[0].run_id) if runs else None
        shown = {graph.shown(name) for name in changed}
        return News(known and known.state, sorted(new), sorted(name for name in shown if name.is_complete))

    return news


def _job_of(graph: Graph, fact: RunOfJob) -> JobId:
    """The job that the run belongs to once the fact is added."""
    run = graph.runs.get(fact.run_id)
    return fact.job if run is None or run.of_job is None else run.of_job.merge(fact).job


def _brought_along(graph: Graph, run_id: str, job: JobId) -> Iterable[tuple[Direction, DatasetId]]:
    """What a run read and wrote before the event by which it becomes one of another job."""
    run = graph.runs.get(run_id)
    return () if run is None or run.of_job is None or run.of_job.job == job else run.observed


def _is_other(graph: Graph, fact: ObservedFacet, facts: Sequence[Fact]) -> bool:
    """Whether the fact changes the newest schema; fast if it repeats it, as nearly always.

    `facts` are all facts of the event, including the facet's content.
    """
    known = graph.datasets.get(fact.dataset)
    newest = None if known is None else known.facets.get(_SCHEMA)
    if newest is not None and newest.content == fact.content:
        return False
    of_all = graph.facets_of(fact.dataset).get(_SCHEMA)
    if of_all is None or fact.stamped <= of_all or of_all.content == fact.content:
        return of_all is None
    body = next(each.body for each in facts if isinstance(each, Content) and each.digest == fact.content)
    return graph.semantic_digests.of(
        fact.content, cast(Mapping[str, Any], strict_json.parse(body))
    ) != graph.semantic_digests.of(of_all.content)


def _schema(graph: Graph, name: DatasetId) -> bytes | None:
    return graph.semantic_digests.of_any(graph.digest_of(name, _SCHEMA))


def _edges(flow: Flow, jobs: Sequence[JobId]) -> Iterator[Edge]:
    """The edge of a flow; an end without a name is the job of the event's run."""
    match flow.between(jobs[0]) if flow.is_of_own else flow:
        case Flow(JobId() as job, JobId() as taker):
            yield job, "feeds", taker
        case Flow(JobId() as job, DatasetId() as name):
            yield job, "output", name
        case Flow(DatasetId() as name, JobId() as job):
            yield job, "input", name


def _ends(graph: Graph, job: JobId, direction: EdgeKind) -> Mapping[DatasetId, object] | Mapping[JobId, object]:
    """The nodes that a job reads, writes, or feeds."""
    known = graph.jobs.get(job)
    return (
        {}
        if known is None
        else known.reads
        if direction == "input"
        else known.writes
        if direction == "output"
        else known.feeds
    )


def _shown_ends(graph: Graph, job: JobId, direction: EdgeKind) -> AbstractSet[DatasetId]:
    """The datasets that a job reads or writes, as they are shown."""
    return {graph.shown(end) for end in _ends(graph, job, direction) if isinstance(end, DatasetId)}


def _new_edges(
    graph: Graph,
    candidates: AbstractSet[Edge],
    shown_before: Mapping[tuple[JobId, EdgeKind], AbstractSet[DatasetId]],
) -> Iterator[Edge]:
    """The candidates that exist now, unless the job already had one to the dataset, under any of its names.

    `shown_before` are the datasets that a job read or wrote before, as they were shown.
    """
    for edge in candidates:
        job, direction, end = edge
        ends = _ends(graph, job, direction)
        if isinstance(end, JobId):
            if end in ends:
                yield edge
            continue
        names = {*graph.identities.members(end)}
        is_new = not ends.keys().isdisjoint(names) and shown_before[job, direction].isdisjoint(names)
        if is_new and graph.shown(end).is_complete:
            yield job, direction, graph.shown(end)


def _declared_edges(graph: Graph, declared: Iterable[JobId | DatasetId]) -> set[DatasetEdge]:
    jobs = [job for job in declared if isinstance(job, JobId) and job in graph.jobs]
    read: set[DatasetEdge] = {(job, "input", name) for job in jobs for name in graph.reads(job)}
    return read | {(job, "output", name) for job in jobs for name in graph.writes(job)}
