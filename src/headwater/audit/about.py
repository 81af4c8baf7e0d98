"""Finds the log entries that concern one dataset: everything that the graph's statements about it rest on."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from headwater.graph.columns import edges_into
from headwater.graph.declared import dataset_of, digests, flows, references, targets
from headwater.graph.diff.event_content import event_content
from headwater.graph.lineage import Graph
from headwater.graph.path import PathTo, path_to
from headwater.model.edits import DELETED, EditEntry, EditItem, named
from headwater.model.events import DatasetEvent, Event, RunEvent
from headwater.model.extract import facts
from headwater.model.facts import (
    STRENGTH,
    Alias,
    CatalogEntry,
    ColumnEvidence,
    Content,
    Declaration,
    EngineCatalog,
    Fact,
    JobFacet,
    JobFlow,
    Observation,
    ObservedFacet,
    Renaming,
    RunFacet,
)
from headwater.model.names import ColumnId, DatasetId, GraphNode, JobId
from headwater.model.spelling import normal
from headwater.store.entries import LoggedEvent, as_today
from headwater.store.reader import Reader

Subject = tuple[type[Event], object]
"""The id of the run that an event reports, or the job or dataset that it declares."""


class About:
    """One dataset, and the entries in a part of a log that concern it.

    These are all events of a run in which one event names it; all declarations of a job or dataset in which one does,
    since a later one replaces an earlier; the edits of it; and the records of erasures in these entries.

    With `has_upstream`, also the entries on which its path from its sources rests: all runs and declarations of the
    jobs on it, whatever else tells what a dataset on it is made from or called, and the edits of all these. Runs that
    only read one of these datasets are not among them.
    """

    def __init__(
        self, reader: Reader, entries: Iterable[LoggedEvent], dataset: DatasetId, *, has_upstream: bool = False
    ) -> None:
        """`entries` are those of the part of the log."""
        graph = Graph(reader.content)
        graph.add_all(reader.graph_facts())
        self._graph = graph
        self.names = frozenset((dataset, *graph.members(dataset)))
        """All names of the dataset, as far as the log knows: other engines may use other names."""
        path = path_to(graph, graph.shown(dataset)) if has_upstream else PathTo()
        self._jobs = frozenset(path.jobs)
        """The jobs on its path."""
        self._sources = frozenset(graph.members_of_all(path.datasets))
        """All names of the datasets on its path."""
        self._spellings = frozenset(map(normal, self.names))
        """Normalized, since an event may use a spelling that no other event has."""
        self._source_spellings = frozenset(map(normal, self._sources))
        self._subjects = {
            subject_of(event)
            for logged in entries
            if isinstance(event := as_today(logged.event_type, logged.raw), Event) and self._is_told_of(event)
        }
        self._subjects.update((RunEvent, run_id) for job in self._jobs for run_id in graph.jobs[job].runs)
        self._events: set[str] = set()

    def has(self, event: Event | EditEntry | None, index: int) -> bool:
        """Whether the entry at that index concerns the dataset; to be called in the log's order.

        `event` is None where it would be refused today.
        """
        if event is None:
            return False
        if isinstance(event, EditEntry):
            return any(map(self._is_edited, event.edits))
        if is_about := subject_of(event) in self._subjects:
            self._events.add(str(index))
        return is_about

    def alike(self) -> list[DatasetId]:
        """The datasets of which a name has the same last part as one of these; for one that no entry is about."""
        last = {_last_part(name) for name in self.names}
        graph = self._graph
        return sorted(
            each for each in graph.shown_datasets() if not last.isdisjoint(map(_last_part, graph.members(each)))
        )

    def _is_told_of(self, event: Event) -> bool:
        found = facts(event)
        bodies = {fact.digest: fact.body for fact in found if isinstance(fact, Content)}
        if not self.names.isdisjoint(named(event, found)) or any(
            normal(name) in self._spellings for name in _in_facets(found, bodies)
        ):
            return True
        if (self._jobs or self._sources) and any(map(self._is_on_path, _destinations(found, bodies))):
            return True
        return any(self._is_meant(fact) for fact in found if isinstance(fact, EngineCatalog))

    def _is_on_path(self, node: GraphNode) -> bool:
        return node in self._jobs if isinstance(node, JobId) else normal(node) in self._source_spellings

    def _is_meant(self, fact: EngineCatalog) -> bool:
        """Whether the engine's catalog makes one of the names an alias."""
        names = (*self.names, *self._sources)
        return any(name.namespace == fact.engine and name.name.startswith(f"{fact.word}.") for name in names)

    def _is_edited(self, edit: EditItem) -> bool:
        """Whether it is of a node, a column, two names kept apart; deletes a namespace; erases from an event."""
        kind, *rest = edit.target
        if kind == "entry":
            return rest[0] in self._events
        if kind == "namespace":
            nodes: list[GraphNode] = [*self.names, *self._sources, *self._jobs]
            return edit.what == DELETED and any(node.namespace == rest[0] for node in nodes)
        if kind == "job":
            return tuple(rest) in self._jobs
        edited = {DatasetId(*rest[at : at + 2]) for at in range(0, len(rest) - 1, 2)}
        return kind in ("dataset", "field", "names") and not edited.isdisjoint(self.names | self._sources)


def _last_part(name: DatasetId) -> str:
    return re.split("[./]", name.name)[-1]


def _destinations(found: tuple[Fact, ...], bodies: Mapping[bytes, bytes]) -> Iterator[GraphNode]:
    """The nodes of which an event tells what flows into them, and the datasets whose names it joins with others."""
    for fact in found:
        match fact:
            case (
                Observation(direction="output", dataset=node)
                | ColumnEvidence(target=node)
                | CatalogEntry(dataset=node)
                | JobFlow(target=(DatasetId() | JobId()) as node)
            ):
                yield node
            case Alias(name=name, alias=other) | Renaming(name=name, former=other):
                yield from (name, other)
            case Declaration(node=DatasetId() as name):
                yield name
            case Declaration(node=JobId() as job, content=content):
                yield job
                declared = json.loads(bodies[content])
                outputs = (reference for direction, reference in references(declared) if direction == "output")
                yield from map(dataset_of, (*outputs, *targets(declared)))
                yield from (flow.target for flow in flows(declared) if flow.target is not None)


def _in_facets(found: tuple[Fact, ...], bodies: Mapping[bytes, bytes]) -> Iterator[DatasetId]:
    """The datasets in an event's facets: sources and targets of columns or jobs, and aliases."""
    # Facets of runs and jobs, and those that runs observe, name no others.
    naming = (fact for fact in found if not isinstance(fact, RunFacet | JobFacet | ObservedFacet))
    for element in event_content(0, naming, lambda name: name).layout:
        for end in element.ends:
            match end:
                case ColumnId(dataset=name) | (DatasetId() as name):
                    yield name
    for target, digest in _column_facets(found, bodies):  # also those that are weaker than another one
        yield from (edge.source for edge in edges_into(target, json.loads(bodies[digest])))


def _column_facets(found: tuple[Fact, ...], bodies: Mapping[bytes, bytes]) -> Iterator[tuple[DatasetId, bytes]]:
    """The facets about columns that an event reports or declares, by digest, each with the dataset that it is about."""
    for fact in found:
        match fact:
            case ColumnEvidence(target=target, content=digest):
                yield target, digest
            case Declaration(node=node, content=content):
                declared = json.loads(bodies[content])
                of_job = (each for _, each in references(declared)) if isinstance(node, JobId) else (declared,)
                for reference in (*of_job, *targets(declared)):
                    facets = digests(reference)
                    yield from ((dataset_of(reference), facets[facet]) for facet in STRENGTH if facet in facets)


def subject_of(event: Event) -> Subject:
    """What an event is about."""
    match event:
        case RunEvent(run_id=run_id):
            return RunEvent, run_id
        case DatasetEvent():
            return DatasetEvent, event.dataset.id
    return type(event), event.job
