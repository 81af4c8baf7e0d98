"""A graph in the form of a bundle: independent of the program that folded the events, and of their order of arrival.

It is computed from the rows that store merged facts, with names in place of database-specific ids. So the stored tables
are summed as they are, and freshly folded facts as they would be stored.

Its lists name the jobs that ran, and datasets under each name that a run used. The counts for people are computed as
the service computes them, with aliases merged, from the same facts.
"""

import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from typing import IO, Any, Final, NamedTuple, TypeGuard, cast

import msgspec
import orjson

from headwater.audit.core import Refused, Report, read_once
from headwater.graph.counts import Counts, counts_of
from headwater.graph.lineage import Graph
from headwater.model.edits import KEY, EditEntry, FactsInOrder
from headwater.model.events import Event
from headwater.model.facts import (
    ERRORS,
    ChainLink,
    Content,
    Declaration,
    Edit,
    FacetReport,
    Fact,
    Observation,
    RunFacet,
    RunFacetReport,
    RunOfJob,
)
from headwater.model.nodes import Arrival
from headwater.model.producer import VERSION
from headwater.model.words import so_many
from headwater.store.connection import Row
from headwater.store.entries import as_today, type_of
from headwater.store.packing import content_of_row
from headwater.store.reader import Reader
from headwater.store.tables import TABLES, THEMSELVES

_SUM_MODULUS: Final = 2**256
_BEYOND: Final = 2**63
"""The first number with more bits than a column of a store."""
_row_bytes: Final = msgspec.msgpack.Encoder().encode
"""MessagePack: equal rows have equal bytes, in less than half of `marshal`'s time."""
_LISTS: Final = {"jobs": "jobs", "datasets": "datasets", "edges": "edges"}
_PARTS: Final = {**_LISTS, "facts": "facts", "rowSum": "facts"}
"""The parts of a graph, and their labels."""
_NAMES_IN_FORMAT: Final[Mapping[type[Fact], str]] = {FacetReport: "Telling", RunFacetReport: "RunTelling"}
"""The names of kinds of facts in `rowSum`, and so in the bundle's format, where they are not the names of the classes.
"""

Rows = Iterable[tuple[type[Fact], Iterable[Row]]]
"""For each kind of fact, its rows with names, runs before what they observed; of contents only the digest."""


class Folding:
    """Folds entries into merged facts, in the log's order."""

    def __init__(self, *, has_columns: bool = False) -> None:
        """`has_columns`: for `known`, the contents of facets are kept too."""
        self._has_columns = has_columns
        self._in_order = FactsInOrder(())
        self._contents: set[bytes] = set()
        self._asked_for: dict[bytes, Mapping[str, Any]] = {}
        """By digest: the contents of declarations and of runs' errors; without columns, no others are needed."""
        self._merged: dict[type[Fact], dict[tuple[object, ...], Fact]] = defaultdict(dict)
        self.mistyped: list[int] = []
        """The indexes of entries whose actual type differs from the declared one."""

    def take(self, event_type: str, raw: bytes, index: int, arrival: Arrival) -> Event | EditEntry | None:
        """Take in an entry, and return it parsed; one that would be refused today, None, has no facts in the service.

        Raises Refused for numbers that no log can hold.
        """
        if not all(-_BEYOND <= number < _BEYOND for number in (index, arrival.received_us)):
            raise Refused("an index or arrival time of an entry has more than 64 bits, which no log can hold")
        entry = as_today(event_type, raw)
        self.take_read(entry, event_type, index, arrival)
        return entry

    def take_read(self, entry: Event | EditEntry | None, event_type: str, index: int, arrival: Arrival) -> None:
        """Take in an entry that was parsed already; None: it would be refused today."""
        if entry is None:
            return
        if type_of(entry) != event_type:
            self.mistyped.append(index)
        facts = self._in_order.facts(entry, index, arrival)
        asked_for = {fact.content for fact in facts if _is_asked_for(fact)}
        for fact in facts:
            if isinstance(fact, Content):
                if self._has_columns or fact.digest in asked_for:
                    self._asked_for[fact.digest] = orjson.loads(fact.body)
                self._contents.add(fact.digest)  # the digest of the body just parsed
                continue
            key, merged = fact.key, self._merged[type(fact)]
            known = merged.setdefault(key, fact)
            if known is not fact:
                merged[key] = known.merge(fact)  # type: ignore[arg-type]

    @property
    def is_empty(self) -> bool:
        """Whether no entry with any facts was taken in."""
        return not self._merged

    @property
    def links(self) -> Iterable[ChainLink]:
        """The chain links in the entries."""
        return cast(Iterable[ChainLink], self._merged[ChainLink].values())

    @property
    def of_keys(self) -> Iterable[Edit]:
        """The edits of keys in the entries."""
        edits = cast(Iterable[Edit], self._merged[Edit].values())
        return (edit for edit in edits if edit.target[0] == KEY)

    def graph(self) -> Mapping[str, Any]:
        """The graph of the entries."""
        return graph_of(self._rows())

    @cached_property
    def known(self) -> Graph:
        """The same graph as the service walks it, aliases merged; once all entries were taken in."""
        graph = Graph(self._asked_for.__getitem__)
        for table in TABLES:
            graph.add_all(self._merged[table.kind].values())
        return graph

    def _rows(self) -> Rows:
        yield Content, ((digest,) for digest in self._contents)
        for table in TABLES:
            yield table.kind, (table.row(fact, THEMSELVES) for fact in self._merged[table.kind].values())


def _is_asked_for(fact: Fact) -> TypeGuard[Declaration | RunFacet]:
    """Whether the fact's content matters for the counts: a deleted error no longer means that the run failed."""
    return isinstance(fact, Declaration) or (isinstance(fact, RunFacet) and fact.name in ERRORS)


def rows_of(reader: Reader) -> Rows:
    """The rows of the graph that a store shows; content digests are recomputed rather than trusted."""
    for kind, rows in reader.named_rows():
        yield kind, ((sha256(content_of_row(row[1])).digest(),) for row in rows) if kind is Content else rows


def graph_of(facts: Rows) -> Mapping[str, Any]:
    """The graph of these rows: jobs, datasets, edges, and a checksum of all rows."""
    graph, total, count = _Graph(), 0, 0
    for kind, rows in facts:
        name = _NAMES_IN_FORMAT.get(kind, kind.__name__).encode()
        for row in graph.noting(kind, rows):
            total += int.from_bytes(sha256(name + _row_bytes(row)).digest())
            count += 1
    return {**graph.lists(), "facts": count, "rowSum": f"{total % _SUM_MODULUS:064x}"}


class _Graph:
    """Collects the listed parts of a graph."""

    def __init__(self) -> None:
        self._job_of_run: dict[str, tuple[str, str]] = {}
        self._datasets: set[tuple[str, str]] = set()
        self._edges: set[tuple[str, ...]] = set()

    def noting(self, kind: type[Fact], rows: Iterable[Row]) -> Iterable[Row]:
        """Passes the rows through and collects the lists from them."""
        if kind is RunOfJob:
            return self._noting_jobs(rows)
        return self._noting_edges(rows) if kind is Observation else rows

    def _noting_jobs(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            self._job_of_run[row[0]] = row[1]
            yield row

    def _noting_edges(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            run_id, direction, dataset = row[:3]
            self._datasets.add(dataset)
            if (job := self._job_of_run.get(run_id)) is not None:
                self._edges.add((*job, direction, *dataset))
            yield row

    def lists(self) -> Mapping[str, Any]:
        return {
            "jobs": sorted(map(list, set(self._job_of_run.values()))),
            "datasets": sorted(map(list, self._datasets)),
            "edges": sorted(map(list, self._edges)),
        }


class Folded(NamedTuple):
    """The graph of a bundle's entries, in numbers."""

    shown: Counts
    facts: int
    log_size: int | None
    """The log size at which a service shows exactly this; None where the bundle begins later or withholds entries.
    """
    is_of_log: bool
    """Whether the bundle claims to contain the whole log as of the export."""

    def members(self) -> Mapping[str, int | None]:
        """As JSON."""
        return {**self.shown._asdict(), "facts": self.facts, "logSize": self.log_size}

    def __str__(self) -> str:
        """As text."""
        shown = self.shown
        counts = (
            f"{so_many(shown.jobs, 'job')}, {so_many(shown.runs, 'run')}, {so_many(shown.datasets, 'dataset')}, "
            f"{so_many(shown.edges, 'edge')} between these, {so_many(shown.quarantined, 'name')} in quarantine"
        )
        where = "" if self.log_size is None else f", as /api/v1/summary?logSize={self.log_size} counts"
        return f"{counts}{where}; {so_many(self.facts, 'fact')}"


def check_graph(file: IO[bytes], folding: Folding, report: Report) -> Folded:
    """Compare the graph in a bundle with that of its entries. Returns the latter in numbers, or raises Refused."""
    (made_by, graph_of_what, begin, end, size), shown = _read(file)
    graph = json.loads(json.dumps(folding.graph()))
    is_from_first = begin == 0 and not report.counts["withheld"]
    folded = Folded(counts_of(folding.known), graph["facts"], end if is_from_first else None, graph_of_what == "log")
    is_same_version = made_by == f"headwater {VERSION}" and "rowSum" in shown
    different = [part for part in (_PARTS if is_same_version else _LISTS) if shown.get(part) != graph[part]]
    for index in folding.mistyped:
        report.find("entry", index, "its type is not the one that the bundle gives")
    for parts in dict.fromkeys(_PARTS[part] for part in different):
        report.find("graph", None, f"the {parts} in the bundle's graph are not those that follow from the entries")
    if is_same_version and (unknown := {*shown} - {*_PARTS}):
        report.find("graph", None, f"the bundle's graph has unknown parts: {', '.join(sorted(unknown))}")
    if graph_of_what == "log" and not (is_from_first and end == size):
        report.find("graph", None, "the bundle claims the graph of the whole log, but holds only a part of the log")
    if not report.found["graph"]:
        whose = "that the service shows" if graph_of_what == "log" else "of these entries"
        report.checked.append(f"graph: folding the entries gives the graph {whose}: {folded}")
    if not is_same_version:
        report.not_known.append(f"the finer facts: {made_by} wrote the bundle, and may count differently")
    if graph_of_what != "log":
        report.not_known.append("whether the service shows this very graph: the bundle covers a part of the log")
    return folded


def _read(file: IO[bytes]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        with zipfile.ZipFile(file) as bundle:
            manifest, shown = (read_once(bundle.read(name)) for name in ("manifest.json", "graph.json"))
        return tuple(manifest[member] for member in ("madeBy", "graphOf", "from", "to", "size")), {**shown}
    except Exception as fault:  # whatever a reader can stumble over: anybody may have written the file
        raise Refused(f"the bundle cannot be read: {fault!r}") from fault
