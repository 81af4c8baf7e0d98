"""Finds the log entries that concern one dataset: everything that the graph's statements about it rest on."""

import json
from collections.abc import Iterator, Mapping

from headwater.graph.columns import edges_into
from headwater.graph.declared import dataset_of, digests, references, targets
from headwater.graph.diff.event_content import event_content
from headwater.graph.lineage import Graph
from headwater.model.edits import DELETED, EditEntry, EditItem, named
from headwater.model.events import DatasetEvent, Event, RunEvent
from headwater.model.extract import facts
from headwater.model.facts import STRENGTH, ColumnEvidence, Content, Declaration, EngineCatalog, Fact
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.model.spelling import normal
from headwater.store.entries import as_today
from headwater.store.reader import Reader


class About:
    """One dataset, and the entries in a part of a log that concern it.

    These are all events of a run in which one event names it; all declarations of a job or dataset in which one does,
    since a later one replaces an earlier; the edits of it; and the records of erasures in these entries.
    """

    def __init__(self, reader: Reader, indexes: range, dataset: DatasetId) -> None:
        self.names = _names_of(reader, dataset)
        """All names of the dataset, as far as the log knows: other engines may use other names."""
        self._spellings = frozenset(map(normal, self.names))
        """Normalized, since an event may use a spelling that no other event has."""
        self._subjects = {
            _subject(event)
            for logged in reader.logged(indexes)
            if isinstance(event := as_today(logged.event_type, logged.raw), Event) and self._is_named(event)
        }
        self._events: set[str] = set()

    def has(self, event: Event | EditEntry | None, index: int) -> bool:
        """Whether the entry at that index concerns the dataset; to be called in the log's order.

        `event` is None where it would be refused today.
        """
        if event is None:
            return False
        if isinstance(event, EditEntry):
            return any(map(self._is_edited, event.edits))
        if is_about := _subject(event) in self._subjects:
            self._events.add(str(index))
        return is_about

    def _is_named(self, event: Event) -> bool:
        found = facts(event)
        if not self.names.isdisjoint(named(event, found)) or any(
            normal(name) in self._spellings for name in _in_facets(found)
        ):
            return True
        return any(self._is_meant(fact) for fact in found if isinstance(fact, EngineCatalog))

    def _is_meant(self, fact: EngineCatalog) -> bool:
        """Whether the engine's catalog makes one of the names an alias of the dataset."""
        return any(name.namespace == fact.engine and name.name.startswith(f"{fact.word}.") for name in self.names)

    def _is_edited(self, edit: EditItem) -> bool:
        """Whether it is of the dataset, a column, two names kept apart; deletes its namespace; erases from an event."""
        kind, *rest = edit.target
        if kind == "entry":
            return rest[0] in self._events
        if kind == "namespace":
            return edit.what == DELETED and any(name.namespace == rest[0] for name in self.names)
        edited = {DatasetId(*rest[at : at + 2]) for at in range(0, len(rest) - 1, 2)}
        return kind in ("dataset", "field", "names") and not self.names.isdisjoint(edited)


def _names_of(reader: Reader, dataset: DatasetId) -> frozenset[DatasetId]:
    graph = Graph(reader.content)
    graph.add_all(reader.graph_facts())
    return frozenset((dataset, *graph.members(dataset)))


def _in_facets(found: tuple[Fact, ...]) -> Iterator[DatasetId]:
    """The datasets in an event's facets: sources and targets of columns or jobs, and aliases."""
    for element in event_content(0, found, lambda name: name).layout:
        for end in element.ends:
            match end:
                case ColumnId(dataset=name) | (DatasetId() as name):
                    yield name
    bodies = {fact.digest: fact.body for fact in found if isinstance(fact, Content)}
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


def _subject(event: Event) -> tuple[type[Event], object]:
    """The run that an event reports, or the job or dataset that it declares."""
    match event:
        case RunEvent(run_id=run_id):
            return RunEvent, run_id
        case DatasetEvent():
            return DatasetEvent, event.dataset.id
    return type(event), event.job
