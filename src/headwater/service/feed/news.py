"""What an event made new beside what it touched, as listeners are told it: a run's state, edges, schemas."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from headwater.graph.lineage import Graph
from headwater.model.events import Direction
from headwater.model.facts import DeclaredTimes, Fact, Observation, ObservedFacet, RunOfJob
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.activity import known_run
from headwater.service.shapes import RunState

_SCHEMA: Final = "schema"
_Edge = tuple[JobId, Direction, DatasetId]
_End = tuple[Direction, DatasetId]


class News(NamedTuple):
    """The state that the event's run is in by now, and what the graph had not had before; datasets by shown names."""

    state: RunState | None = None
    edges: Sequence[_Edge] = ()
    schemas: Sequence[DatasetId] = ()
    """Datasets whose newest schema is another one now, or is the first."""


def noticing(graph: Graph, facts: Sequence[Fact]) -> Callable[[], News]:
    """Look at what the facts are about before they are added; what comes back looks again once they are."""
    runs, observed, declared, schemas = (
        list[RunOfJob](),
        list[Observation](),
        list[JobId | DatasetId](),
        set[DatasetId](),
    )
    for fact in facts:
        if isinstance(fact, Observation):
            observed.append(fact)
        elif isinstance(fact, ObservedFacet):
            if fact.name == _SCHEMA and fact.is_of_dataset and _is_other(graph, fact):
                schemas.add(fact.dataset)
        elif isinstance(fact, RunOfJob):
            runs.append(fact)
        elif isinstance(fact, DeclaredTimes):
            declared.append(fact.node)
    fresh = {_end(fact) for fact in observed if not any(fact.dataset in _ends(graph, run.job, fact) for run in runs)}
    had = _declared_edges(graph, declared)
    was = {name: _schema(graph, name) for name in declared if isinstance(name, DatasetId)}

    def news() -> News:
        jobs = [run.of_job.job for each in runs if (run := graph.runs[each.run_id]).of_job is not None]
        edges = {edge for job in jobs for edge in _new_edges(graph, job, observed, fresh)}
        edges |= _declared_edges(graph, declared) - had
        changed = schemas | {name for name, schema in was.items() if _schema(graph, name) != schema}
        known = known_run(graph, runs[0].run_id) if runs else None
        shown = {graph.shown(name) for name in changed}
        return News(known and known.state, sorted(edges), sorted(name for name in shown if name.is_complete))

    return news


def _is_other(graph: Graph, fact: ObservedFacet) -> bool:
    """Whether the newest schema will be another one; where it is told again, as nearly always, that is seen at once."""
    known = graph.datasets.get(fact.dataset)
    newest = None if known is None else known.facets.get(_SCHEMA)
    if newest is not None and newest.content == fact.content:
        return False
    of_all = graph.facets_of(fact.dataset).get(_SCHEMA)
    return of_all is None or (of_all < fact.stamped and of_all.content != fact.content)


def _schema(graph: Graph, name: DatasetId) -> bytes | None:
    return graph.digest_of(name, _SCHEMA)


def _end(fact: Observation) -> _End:
    return fact.direction, fact.dataset


def _ends(graph: Graph, job: JobId, fact: Observation) -> Mapping[DatasetId, object]:
    """What the job reads, or writes, as the fact does."""
    known = graph.jobs.get(job)
    return {} if known is None else known.reads if fact.direction == "input" else known.writes


def _new_edges(graph: Graph, job: JobId, observed: Iterable[Observation], fresh: AbstractSet[_End]) -> Iterator[_Edge]:
    """Edges that the job had under none of the dataset's names."""
    for fact in observed:
        if _end(fact) in fresh:
            ends, shown = _ends(graph, job, fact), graph.shown(fact.dataset)
            names = [name for name in graph.identities.members(fact.dataset) if name in ends]
            if shown.is_complete and all((fact.direction, name) in fresh for name in names):
                yield job, fact.direction, shown


def _declared_edges(graph: Graph, declared: Iterable[JobId | DatasetId]) -> set[_Edge]:
    jobs = [job for job in declared if isinstance(job, JobId) and job in graph.jobs]
    read: set[_Edge] = {(job, "input", name) for job in jobs for name in graph.reads(job)}
    return read | {(job, "output", name) for job in jobs for name in graph.writes(job)}
