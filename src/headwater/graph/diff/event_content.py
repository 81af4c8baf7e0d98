"""The content of a single event, in the terms of a diff: to compare two runs, and to find the event behind a change."""

import json
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, NamedTuple

from headwater.graph.columns import edges_into
from headwater.graph.declared import dataset_of, digests, flows, makers, references, silent, targets
from headwater.graph.diff.compare import (
    ABOUT_THE_EVENT,
    OF_DATASET,
    Change,
    Element,
    Layout,
    comparable,
    flow,
    lay_out_edges,
    lay_out_schema,
)
from headwater.graph.fold import FactKey
from headwater.model.edits import tag_of
from headwater.model.events import Direction
from headwater.model.facts import (
    STRENGTH,
    Alias,
    CatalogEntry,
    ColumnEvidence,
    Content,
    Declaration,
    Edit,
    EngineCatalog,
    Fact,
    JobFacet,
    JobFlow,
    Observation,
    ObservedFacet,
    Renaming,
    RunFacet,
    RunOfJob,
    Target,
)
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId

NameOf = Callable[[DatasetId], DatasetId]
"""Maps any name of a dataset to its name in the diff."""
Contents = Callable[[bytes], Mapping[str, Any]]
_Schemas = dict[DatasetId, tuple[Direction, bytes]]


class Naming(NamedTuple):
    """An event's evidence of which names are one dataset, in the names it uses."""

    used: AbstractSet[DatasetId] = frozenset()
    one: AbstractSet[tuple[DatasetId, DatasetId]] = frozenset()
    """Pairs that it joins, or no longer keeps apart."""
    apart: AbstractSet[tuple[DatasetId, DatasetId]] = frozenset()
    engines: AbstractSet[DatasetId] = frozenset()
    """The engines whose name resolution it reports, each with the name part it resolves."""


class EventContent(NamedTuple):
    """The content of an event, and its position in the log."""

    log_index: int
    layout: Layout
    runs: Mapping[str, JobId]
    """Its run, and the job it reports for it."""
    tables: AbstractSet[DatasetId]
    """The datasets that it makes tables of a catalog, in the names it uses."""
    declared: JobId | None
    """The job that it declares."""
    deleted: AbstractSet[str]
    """Node ids that it deletes: ids, since a job and a dataset may be equal as pairs."""
    declaration: FactKey | None = None
    """The key of its declaration, which replaces earlier ones with the same key."""
    naming: Naming = Naming()
    evidence: Mapping[DatasetId, int] = {}
    """By dataset, the strength of the facet in which its run reports column edges."""


def event_content(log_index: int, facts: Iterable[Fact], name_of: NameOf) -> EventContent:
    """The content of an event, from its facts."""
    event_facts, used = tuple(facts), set[DatasetId]()
    bodies = {fact.digest: fact.body for fact in event_facts if isinstance(fact, Content)}

    def content(digest: bytes) -> Mapping[str, Any]:
        return _parsed(bodies[digest])

    def resolved(name: DatasetId) -> DatasetId:
        used.add(name)
        return name_of(name)

    runs = {fact.run_id: fact.job for fact in event_facts if isinstance(fact, RunOfJob)}
    layout: Layout = {}
    declared = None
    declaration: FactKey | None = None
    deleted: set[str] = set()
    schemas: _Schemas = {}
    evidence: dict[DatasetId, list[ColumnEvidence]] = {}
    for fact in event_facts:
        match fact:
            case RunOfJob(job=job, parts_of=parents):
                layout.update({Element("job", (node,)): None for node in (job, *(each.job for each in parents))})
            case RunFacet(name=name) if name not in ABOUT_THE_EVENT:
                layout[Element("runFacet", (), name)] = comparable(name, content(fact.content))
            case JobFacet(job=job, name=name):
                layout[Element("jobFacet", (job,), name)] = comparable(name, content(fact.content))
            case Observation(run_id=run_id, direction=direction, dataset=name):
                _flow(layout, runs[run_id], direction, resolved(name))
            case ObservedFacet(dataset=name, is_of_dataset=True, name="schema"):
                _note_schema(schemas, resolved(name), fact.direction, fact.content)
            case ObservedFacet(dataset=name, is_of_dataset=True, name=facet) if facet in OF_DATASET:
                layout[Element("datasetFacet", (resolved(name),), facet)] = comparable(facet, content(fact.content))
            case ColumnEvidence(target=target):
                layout[Element("dataset", (resolved(target),))] = None
                evidence.setdefault(resolved(target), []).append(fact)
            case JobFlow(run_id=run_id, source=source, target=end):
                _job_flow(layout, (source or runs[run_id], end or runs[run_id]), resolved)
            case Alias(name=name, alias=alias) | Renaming(name=name, former=alias):
                layout.update({Element("dataset", (resolved(each),)): None for each in (name, alias)})
            case Declaration(node=JobId() as job):
                declared, declaration = job, fact.key
                layout[Element("job", (job,))] = None
                _declared_job(layout, schemas, job, content(fact.content), content, resolved)
            case Edit(target=("job", namespace, name), what="deleted", value=b"true"):
                deleted.add(JobId(namespace, name).node_id)
            case Edit(target=("dataset", namespace, name), what="deleted", value=b"true"):
                deleted.add(resolved(DatasetId(namespace, name)).node_id)
            case Edit(target=target, what=what, value=value) if (word := tag_of(what)) is not None:
                if (node := _tagged(target, resolved)) is not None:
                    layout[Element("tag", (node,), word)] = word if value == b"true" else None
            case Declaration(node=DatasetId() as name):
                declaration = name
                _declared(layout, schemas, "output", content(fact.content), content, resolved)
                for job, _ in makers(content(fact.content)):
                    _job_flow(layout, (job, name), resolved)
    for name, (_, digest) in schemas.items():
        lay_out_schema(layout, name, content(digest))
    strengths = {name: max(each.strength for each in reports) for name, reports in evidence.items()}
    for name, reports in evidence.items():
        strongest = [(each.target, content(each.content)) for each in reports if each.strength == strengths[name]]
        _columns(layout, name, strongest, resolved)
    tables = {fact.dataset for fact in event_facts if isinstance(fact, CatalogEntry)}
    naming = _naming(event_facts, used)
    return EventContent(log_index, layout, runs, tables, declared, deleted, declaration, naming, strengths)


def _naming(facts: Iterable[Fact], used: AbstractSet[DatasetId]) -> Naming:
    one, apart, engines = set[tuple[DatasetId, DatasetId]](), set[tuple[DatasetId, DatasetId]](), set[DatasetId]()
    for fact in facts:
        match fact:
            case Alias(name=name, alias=alias) | Renaming(name=name, former=alias):
                one.add((name, alias))
            case Edit(target=("names", *parts), what="apart", value=value):
                names = DatasetId(*parts[:2]), DatasetId(*parts[2:])
                (apart if value == b"true" else one).add(names)
            case EngineCatalog(engine=engine, word=word):
                engines.add(DatasetId(engine, word))
    return Naming(used, one, apart, engines)


def _tagged(target: Target, name_of: NameOf) -> AnyNode | None:
    match target:
        case ("job", namespace, name):
            return JobId(namespace, name)
        case ("dataset", namespace, name):
            return name_of(DatasetId(namespace, name))
        case ("field", namespace, name, column):
            return ColumnId(name_of(DatasetId(namespace, name)), column)
    return None


@lru_cache(maxsize=64)  # a stream repeats itself
def _parsed(body: bytes) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(body)
    return content


def _flow(layout: Layout, job: JobId, direction: Direction, dataset: DatasetId) -> None:
    layout[Element("dataset", (dataset,))] = None
    layout.update(flow(job, [dataset], []) if direction == "input" else flow(job, [], [dataset]))


def _job_flow(layout: Layout, ends: tuple[JobId | DatasetId, JobId | DatasetId], name_of: NameOf) -> None:
    """Add flows between jobs, or between a job and a dataset."""
    layout.update({Element("job", (end,)): None for end in ends if isinstance(end, JobId)})
    match ends:
        case DatasetId() as name, JobId() as job:
            _flow(layout, job, "input", name_of(name))
        case JobId() as job, DatasetId() as name:
            _flow(layout, job, "output", name_of(name))
        case JobId() as job, JobId() as other:
            layout.update(flow(job, [], [], [other]))


def _columns(
    layout: Layout, name: DatasetId, facets: Iterable[tuple[DatasetId, Mapping[str, Any]]], name_of: NameOf
) -> None:
    """Add the column edges into a dataset by these facets, each with the name that it describes the dataset under."""
    edges = (edge for target, facet in facets for edge in edges_into(target, facet))
    lay_out_edges(layout, name, (edge._replace(source=name_of(edge.source)) for edge in edges))


def _declared_job(
    layout: Layout,
    schemas: _Schemas,
    job: JobId,
    declared: Mapping[str, Any],
    content: Contents,
    name_of: NameOf,
) -> None:
    for direction, reference in references(declared):
        _declared(layout, schemas, direction, reference, content, name_of)
        _flow(layout, job, direction, name_of(dataset_of(reference)))
    for reference in targets(declared):
        _declared(layout, schemas, "output", reference, content, name_of)
    for source, target, *_ in flows(declared):
        _job_flow(layout, (source or job, target or job), name_of)


def _declared(
    layout: Layout,
    schemas: _Schemas,
    direction: Direction,
    reference: Mapping[str, Any],
    content: Contents,
    name_of: NameOf,
) -> None:
    own, facets, without = dataset_of(reference), digests(reference), silent(reference)
    layout[Element("dataset", (name_of(own),))] = None
    if "schema" in facets:
        _note_schema(schemas, name_of(own), direction, facets["schema"])
    for facet in OF_DATASET & facets.keys():
        layout[Element("datasetFacet", (name_of(own),), facet)] = comparable(facet, content(facets[facet]))
    by_strength = (facets[facet] for facet in STRENGTH if facet in facets and facets[facet] not in without)
    if (strongest := next(by_strength, None)) is not None:
        _columns(layout, name_of(own), [(own, content(strongest))], name_of)


def _note_schema(schemas: _Schemas, name: DatasetId, direction: Direction, digest: bytes) -> None:
    """If one event gives a dataset two schemas, the output's wins, then the greater digest."""
    schema = direction, digest
    schemas[name] = max(schemas.get(name, schema), schema)


class Merged:
    """The combined content of one run's events, later ones last; and by element, the event since which it holds.

    Of a schema, only the last report counts; of column edges, all that are reported by the strongest kind of facet.
    """

    def __init__(self) -> None:
        self.layout: Layout = {}
        self.since: dict[Element, int] = {}
        self._strengths: dict[DatasetId, int] = {}

    def add(self, event: EventContent) -> None:
        """Add an event that is later than all before."""
        for name, strength in event.evidence.items():
            if strength > self._strengths.get(name, strength):
                self._drop(each for each in self.layout if _is_edge_into(each, name))
            self._strengths[name] = max(strength, self._strengths.get(name, strength))
        for element, value in event.layout.items():
            match element:
                case Element("columnEdge", (_, end)) if self._is_outdone(event, end):
                    continue
                case Element("columnEdge"):
                    self._set(element, tuple(sorted({*self.layout.get(element, ()), *value})), event)
                case Element("schema", (DatasetId() as name,)):
                    columns = (Element("column", (ColumnId(name, each),)) for each, _ in self.layout.get(element, ()))
                    self._drop(each for each in columns if each not in event.layout)
                    self._set(element, value, event)
                case _:
                    self._set(element, value, event)

    def _set(self, element: Element, value: Any, event: EventContent) -> None:  # noqa: ANN401  as in `Layout`
        if element not in self.layout or self.layout[element] != value:
            self.layout[element], self.since[element] = value, event.log_index

    def _drop(self, elements: Iterable[Element]) -> None:
        for element in [*elements]:
            self.layout.pop(element, None)

    def _is_outdone(self, event: EventContent, end: AnyNode) -> bool:
        name = end.dataset if isinstance(end, ColumnId) else end
        return isinstance(name, DatasetId) and event.evidence.get(name, 0) < self._strengths.get(name, 0)


def _is_edge_into(element: Element, name: DatasetId) -> bool:
    end = element.ends[-1]
    return element.kind == "columnEdge" and name == (end.dataset if isinstance(end, ColumnId) else end)


class RelevantElements:
    """Reduces events to what `originating_event` needs for some changes: little of each of many events."""

    def __init__(self, changes: Iterable[Change]) -> None:
        elements = [change.element for change in changes]
        columns = [end for element in elements for end in element.ends if isinstance(end, ColumnId)]
        datasets = [end for element in elements for end in element.ends if isinstance(end, DatasetId)]
        self._elements = {
            *elements,
            *(Element("schema", (column.dataset,)) for column in columns),
            *(Element("dataset", (name,)) for name in (*datasets, *(column.dataset for column in columns))),
        }
        self._edges = {_of_any_job(element) for element in elements if element.kind == "edge"}

    def of(self, event: EventContent) -> EventContent:
        """The event, reduced."""
        return event._replace(layout={each: value for each, value in event.layout.items() if self._matters(each)})

    def _matters(self, element: Element) -> bool:
        return element in self._elements or (element.kind == "edge" and _of_any_job(element) in self._edges)


def _of_any_job(edge: Element) -> tuple[str, tuple[AnyNode | None, ...]]:
    return edge.what, tuple(None if isinstance(end, JobId) else end for end in edge.ends)
