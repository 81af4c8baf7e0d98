"""What an event adds to the graph, for listeners: a run's new state, new edges, changed schemas."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final, Literal, NamedTuple

from headwater.graph.identity import Class
from headwater.graph.lineage import Graph
from headwater.model.edits import APART
from headwater.model.events import Direction
from headwater.model.facts import (
    Alias,
    Declaration,
    DeclaredTimes,
    Edit,
    Fact,
    JobFlow,
    Observation,
    ObservedFacet,
    RunOfJob,
    RunState,
    Stamped,
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


class _Touched(NamedTuple):
    """What facts may change in the graph, as it is before they are added."""

    runs: Sequence[RunOfJob]
    observations: Sequence[Observation]
    flows: Sequence[Flow]
    nodes: set[JobId | DatasetId]
    """Those of which several edges may come or go at once."""
    schemas: Mapping[DatasetId, Stamped | None]
    """The newest schema under each name that may get another one."""


def noticing(graph: Graph, facts: Sequence[Fact]) -> Callable[[], News]:
    """Take a snapshot before the facts are added; call the returned function afterwards for what is new."""
    runs, observations, flows, nodes, schemas = _touched(graph, facts)
    jobs = [_job_of(graph, run) for run in runs]
    edges: set[Edge] = {(job, fact.direction, fact.dataset) for job in jobs for fact in observations}
    edges |= {edge for flow in flows for edge in _edges(flow, jobs)}
    for job, run in zip(jobs, runs, strict=True):
        edges |= {*_brought_along(graph, run.run_id, job)}
        for renamed in graph.renamed_by(run.run_id):  # a rename that fails joins nothing
            nodes |= _jobs_naming(graph, renamed)
    added = {edge for edge in edges if edge[2] not in _ends(graph, *edge[:2])}
    classes, had = graph.identities.exceptions, _edges_of(graph, nodes)

    def news() -> News:
        had_as_shown = {(job, direction, graph.shown(name)) for job, direction, name in had}
        new = {*_new_edges(graph, added, classes)} | _edges_of(graph, nodes)
        known = known_run(graph, runs[0].run_id) if runs else None
        reshaped = {graph.shown(name) for name in schemas if _has_other_schema(graph, name, schemas)}
        return News(
            known and known.state, sorted(new - had_as_shown), sorted(name for name in reshaped if name.is_complete)
        )

    return news


def _touched(graph: Graph, facts: Sequence[Fact]) -> _Touched:
    runs, observations, flows = list[RunOfJob](), list[Observation](), list[Flow]()
    nodes, schemas = set[JobId | DatasetId](), dict[DatasetId, Stamped | None]()
    joins = any(isinstance(fact, Alias) and fact.alias not in graph.identities.members(fact.name) for fact in facts)
    for fact in facts:
        match fact:
            case Observation():
                observations.append(fact)
            case ObservedFacet():
                if fact.name == _SCHEMA and fact.is_of_dataset and (joins or _is_other(graph, fact)):
                    schemas[fact.dataset] = _schema(graph, fact.dataset)
            case RunOfJob():
                runs.append(fact)
            case JobFlow():
                flows.append(Flow(fact.source, fact.target))
            case Declaration():
                flows.extend(graph.flows_reported_by(fact))
            case DeclaredTimes():
                nodes.add(fact.node)
                if isinstance(fact.node, DatasetId):
                    schemas[fact.node] = _schema(graph, fact.node)
            case Edit() if fact.what == APART:
                nodes |= _jobs_naming(graph, _split(fact))
    return _Touched(runs, observations, flows, nodes, schemas)


def _job_of(graph: Graph, fact: RunOfJob) -> JobId:
    """The job that the run belongs to once the fact is added."""
    run = graph.runs.get(fact.run_id)
    return fact.job if run is None or run.of_job is None else run.of_job.merge(fact).job


def _brought_along(graph: Graph, run_id: str, job: JobId) -> Iterator[Edge]:
    """The edges that a run had before the event by which it becomes one of another job."""
    run = graph.runs.get(run_id)
    if run is not None and run.of_job is not None and run.of_job.job != job:
        yield from ((job, *end) for end in run.observed)
        for flow in run.extras.flows if run.extras is not None else ():
            yield from _edges(flow, (job,))


def _split(fact: Edit) -> tuple[DatasetId, DatasetId]:
    """The names that an edit splits, or stops splitting."""
    _, namespace, name, other_namespace, other_name = fact.target
    return DatasetId(namespace, name), DatasetId(other_namespace, other_name)


def _jobs_naming(graph: Graph, names: Iterable[DatasetId]) -> set[JobId]:
    """The jobs that read or write one of these datasets, under any of its names."""
    return {job for name in names for job in graph.readers(name) | graph.writers(name)}


def _is_other(graph: Graph, fact: ObservedFacet) -> bool:
    """Whether the fact is anything but a repetition of the dataset's newest schema, as nearly always."""
    return _newest(_schema(graph, name) for name in graph.identities.members(fact.dataset)) != fact.content


def _schema(graph: Graph, name: DatasetId) -> Stamped | None:
    """The newest schema of a dataset under this exact name."""
    known = graph.datasets.get(name)
    if known is None:
        return None
    return (known.current_facets() if known.declared else known.facets).get(_SCHEMA)


def _newest(schemas: Iterable[Stamped | None]) -> bytes | None:
    newest = max(filter(None, schemas), default=None)
    return None if newest is None else newest.content


def _has_other_schema(graph: Graph, name: DatasetId, before: Mapping[DatasetId, Stamped | None]) -> bool:
    """Whether the dataset's newest schema is another one than before; it counts as one dataset then as it does now."""
    members = graph.identities.members(name)
    had = _newest(before[each] if each in before else _schema(graph, each) for each in members)
    has = _newest(_schema(graph, each) for each in members)
    return graph.semantic_digests.of_any(has) != graph.semantic_digests.of_any(had)


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


def _new_edges(graph: Graph, added: AbstractSet[Edge], classes: Mapping[DatasetId, Class]) -> Iterator[Edge]:
    """The edges that the job did not have to the dataset, under any of its names.

    They are among those `added` with the event, and those to datasets of which names came together or apart; `classes`
    are the exceptional classes of names before.
    """

    @cache  # an event may add a thousand edges of one job
    def had(job: JobId, direction: EdgeKind) -> set[DatasetId]:
        names = (name for name in _ends(graph, job, direction) if isinstance(name, DatasetId))
        before = (name for name in names if (job, direction, name) not in added)
        shown_before = (graph.shown_among(classes.get(name, (name,))) for name in before)
        return {graph.shown(name) for name in shown_before if name.is_complete}

    for job, direction, end in {*added, *_edges_naming(graph, _regrouped(classes, graph.identities.exceptions))}:
        if end not in _ends(graph, job, direction):
            continue
        if isinstance(end, JobId):
            yield job, direction, end
        elif (shown := graph.shown(end)).is_complete and shown not in had(job, direction):
            yield job, direction, shown


def _regrouped(before: Mapping[DatasetId, Class], now: Mapping[DatasetId, Class]) -> set[DatasetId]:
    """The names whose exceptional class is another one than before."""
    if now is before:
        return set()
    same = {*before.values()} & {*now.values()}
    return {name for classes in (before, now) for name, together in classes.items() if together not in same}


def _edges_naming(graph: Graph, names: Iterable[DatasetId]) -> Iterator[DatasetEdge]:
    """The edges to datasets under these very names."""
    for name in names:
        dataset = graph.datasets.get(name)
        yield from ((job, "input", name) for job in (() if dataset is None else dataset.readers))
        yield from ((job, "output", name) for job in (() if dataset is None else dataset.writers))


def _edges_of(graph: Graph, nodes: Iterable[JobId | DatasetId]) -> set[DatasetEdge]:
    """The edges of those of the nodes that are known jobs, by shown name."""
    jobs = [job for job in nodes if isinstance(job, JobId) and job in graph.jobs]
    read: set[DatasetEdge] = {(job, "input", name) for job in jobs for name in graph.reads(job)}
    return read | {(job, "output", name) for job in jobs for name in graph.writes(job)}
