"""One table per kind of fact: how a fact becomes a row, and a row a fact."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar

from headwater.model.events import Stamp
from headwater.model.facts import (
    Alias,
    Catalog,
    CatalogEntry,
    ChainLink,
    ColumnEvidence,
    Content,
    ControlFlow,
    Declaration,
    DeclaredShape,
    DeclaredTimes,
    Deletion,
    Edit,
    Ending,
    EngineCatalog,
    FacetReport,
    Fact,
    JobFacet,
    JobFlow,
    Observation,
    ObservedFacet,
    ParentRun,
    Quarantined,
    Renaming,
    RunFacet,
    RunFacetReport,
    RunOfJob,
    RunTimes,
    Target,
    UseEvidence,
)
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.store.bulk import Insert
from headwater.store.connection import Row
from headwater.store.merges import (
    CHAIN_LINK,
    EDIT,
    JOB_FACET,
    RUN_OF_JOB,
    RUN_TIMES,
    TELLING,
    last_writer,
    widening,
)
from headwater.store.packing import content_of_row, held


class Numbers(Protocol):
    """Surrogate keys of names and runs."""

    def name(self, pair: tuple[str, str]) -> object:
        """The number of a pair (namespace, name)."""

    def run(self, run_id: str) -> object:
        """The number of a run."""


class Names(Protocol):
    """Resolves surrogate keys."""

    def name(self, number: int) -> tuple[str, str]:
        """The pair (namespace, name)."""

    def run(self, number: int) -> str:
        """The run's id."""


class _Themselves:
    """Keeps names and runs as they are, for rows outside a database."""

    @staticmethod
    def name(pair: tuple[str, str]) -> tuple[str, str]:
        """The pair, of no class of its own."""
        return (pair[0], pair[1])

    @staticmethod
    def run(run_id: str) -> str:
        """The run's id."""
        return run_id


THEMSELVES: Final[Numbers] = _Themselves()

FactT = TypeVar("FactT", bound=Fact)
_NAMED_TOGETHER: Final = 256


@dataclass(frozen=True)
class Table(Generic[FactT]):
    """The table for facts of one kind. `row` and `fact` are inverse to each other."""

    kind: type[FactT]
    insert: Insert
    row: Callable[[FactT, Numbers], Row]
    fact: Callable[[Row, Names], FactT]
    runs: tuple[int, ...] = ()
    """Indexes of columns with surrogate keys of runs."""
    names: tuple[int, ...] = ()
    """Indexes of columns with surrogate keys of names; None and 0 in them stand for no name."""

    @property
    def select(self) -> str:
        """A query for every row; a condition may be appended."""
        return f"SELECT * FROM {self.insert.table}"  # noqa: S608  names of ours

    def named(self, rows: Iterable[Row], names: Names) -> Iterator[Row]:
        """The rows with names and run ids in place of surrogate keys, as `row` with `THEMSELVES` makes them."""
        rows = iter(rows)
        while some := list(islice(rows, _NAMED_TOGETHER)):
            columns: list[Iterable[Any]] = list(zip(*some, strict=True))  # by columns, in a third of the time
            for at in self.runs:
                columns[at] = [names.run(number) for number in columns[at]]
            for at in self.names:
                columns[at] = [number and names.name(number) for number in columns[at]]
            yield from zip(*columns, strict=True)


def target_of_key(key: str) -> Target:
    """The target of a key in the table `edit`."""
    return tuple(json.loads(key))


def _parent_row(parent: ParentRun | None, numbers: Numbers) -> Row:
    return (None, None) if parent is None else (parent.run_id, numbers.name(parent.job))


def _run_of_job_fact(row: Row, names: Names) -> RunOfJob:
    parent = None if row[2] is None else ParentRun(row[2], JobId(*names.name(row[3])))
    root = None if row[4] is None else ParentRun(row[4], JobId(*names.name(row[5])))
    both = parent, parent if root == parent else root  # one object, as it is for most runs
    return RunOfJob(names.run(row[0]), JobId(*names.name(row[1])), *both, Stamp(*row[6:8]))


def _chain_link_fact(row: Row, names: Names) -> ChainLink:
    node, epoch = names.name(row[0])
    return ChainLink(node, epoch, row[1], row[2], row[3], row[4], row[5], row[6], bool(row[7]), row[8])


_OWN = ("own", 0)


def _end(end: JobId | DatasetId | None, numbers: Numbers) -> tuple[str, object]:
    return _OWN if end is None else ("job" if isinstance(end, JobId) else "dataset", numbers.name(end))


def _end_of(kind: str, number: int, names: Names) -> JobId | DatasetId | None:
    return None if kind == _OWN[0] else _node(kind, number, names)


def _node(kind: str, number: int, names: Names) -> JobId | DatasetId:
    return (JobId if kind == "job" else DatasetId)(*names.name(number))


TABLES: tuple[Table[Any], ...] = (
    Table(
        Content,
        Insert("content", 2, "ON CONFLICT (digest) DO NOTHING"),
        lambda fact, _: (fact.digest, held(fact.body)),
        lambda row, _: Content(row[0], content_of_row(row[1])),
    ),
    Table(
        RunTimes,
        Insert("run_times", 8, RUN_TIMES),
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            *fact.seen,
            fact.state[0],
            *fact.state[1],
            fact.state[2],
            fact.started_us,
        ),
        lambda row, names: RunTimes(names.run(row[0]), Seen(*row[1:3]), (row[3], Stamp(*row[4:6]), row[6]), row[7]),
        runs=(0,),
    ),
    Table(
        RunOfJob,
        Insert("run_of_job", 8, RUN_OF_JOB),
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            numbers.name(fact.job),
            *(part for parent in (fact.parent, fact.root) for part in _parent_row(parent, numbers)),
            *fact.stamp,
        ),
        _run_of_job_fact,
        runs=(0,),
        names=(1, 3, 5),
    ),
    Table(
        RunFacet,
        last_writer("run_facet", 5, "run", "name"),
        lambda fact, numbers: (numbers.run(fact.run_id), fact.name, fact.content, *fact.stamp),
        lambda row, names: RunFacet(names.run(row[0]), row[1], row[2], Stamp(*row[3:])),
        runs=(0,),
    ),
    Table(
        RunFacetReport,
        last_writer("run_telling", 5, "run", "name", "content"),
        lambda fact, numbers: (numbers.run(fact.run_id), fact.name, fact.content, *fact.stamp),
        lambda row, names: RunFacetReport(names.run(row[0]), row[1], row[2], Stamp(*row[3:])),
        runs=(0,),
    ),
    Table(
        JobFacet,
        Insert("job_facet", 6, JOB_FACET),
        lambda fact, numbers: (numbers.name(fact.job), fact.name, fact.content, fact.first_us, *fact.stamp),
        lambda row, names: JobFacet(JobId(*names.name(row[0])), row[1], row[2], row[3], Stamp(*row[4:])),
        names=(0,),
    ),
    Table(
        Observation,
        widening("observation", 5, "run", "direction", "dataset"),
        lambda fact, numbers: (numbers.run(fact.run_id), fact.direction, numbers.name(fact.dataset), *fact.seen),
        lambda row, names: Observation(names.run(row[0]), row[1], DatasetId(*names.name(row[2])), Seen(*row[3:])),
        runs=(0,),
        names=(2,),
    ),
    Table(
        ObservedFacet,
        last_writer("observed_facet", 8, "run", "direction", "dataset", "slot", "name"),
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            fact.direction,
            numbers.name(fact.dataset),
            fact.slot,
            fact.name,
            fact.content,
            *fact.stamp,
        ),
        lambda row, names: ObservedFacet(
            names.run(row[0]), row[1], DatasetId(*names.name(row[2])), row[3], row[4], row[5], Stamp(*row[6:])
        ),
        runs=(0,),
        names=(2,),
    ),
    Table(
        FacetReport,
        Insert("telling", 9, TELLING),
        lambda fact, numbers: (
            numbers.name(fact.dataset),
            fact.name,
            fact.content,
            numbers.run(fact.run_id),
            fact.direction,
            *fact.first,
            *fact.last,
        ),
        lambda row, names: FacetReport(
            names.run(row[3]), row[4], DatasetId(*names.name(row[0])), row[1], row[2], Stamp(*row[5:7]), Stamp(*row[7:])
        ),
        runs=(3,),
        names=(0,),
    ),
    Table(
        ColumnEvidence,
        widening("column_evidence", 6, "run", "target", "strength", "content"),
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            numbers.name(fact.target),
            fact.strength,
            fact.content,
            *fact.seen,
        ),
        lambda row, names: ColumnEvidence(
            names.run(row[0]), DatasetId(*names.name(row[1])), row[2], row[3], Seen(*row[4:])
        ),
        runs=(0,),
        names=(1,),
    ),
    Table(
        UseEvidence,
        widening("use_evidence", 4, "run", "content"),
        lambda fact, numbers: (numbers.run(fact.run_id), fact.content, *fact.seen),
        lambda row, names: UseEvidence(names.run(row[0]), row[1], Seen(*row[2:])),
        runs=(0,),
    ),
    Table(
        Declaration,
        last_writer("declaration", 5, "kind", "node"),
        lambda fact, numbers: (fact.kind, numbers.name(fact.node), fact.content, *fact.stamp),
        lambda row, names: Declaration(_node(row[0], row[1], names), row[2], Stamp(*row[3:])),
        names=(1,),
    ),
    Table(
        DeclaredTimes,
        widening("declared_times", 4, "kind", "node"),
        lambda fact, numbers: (fact.kind, numbers.name(fact.node), *fact.seen),
        lambda row, names: DeclaredTimes(_node(row[0], row[1], names), Seen(*row[2:])),
        names=(1,),
    ),
    Table(
        DeclaredShape,
        Insert("declared_shape", 5, "ON CONFLICT (dataset, stamp_us, stamp_digest) DO NOTHING"),
        lambda fact, numbers: (numbers.name(fact.dataset), *fact.stamp, fact.schema, fact.version),
        lambda row, names: DeclaredShape(DatasetId(*names.name(row[0])), Stamp(*row[1:3]), *row[3:]),
        names=(0,),
    ),
    Table(
        Alias,
        widening("alias", 5, "name", "alias", "evidence"),
        lambda fact, numbers: (numbers.name(fact.name), numbers.name(fact.alias), fact.evidence, *fact.seen),
        lambda row, names: Alias(
            DatasetId(*names.name(row[0])), DatasetId(*names.name(row[1])), row[2], Seen(*row[3:])
        ),
        names=(0, 1),
    ),
    Table(
        Renaming,
        widening("renaming", 5, "run", "name", "former"),
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            numbers.name(fact.name),
            numbers.name(fact.former),
            *fact.seen,
        ),
        lambda row, names: Renaming(
            names.run(row[0]), DatasetId(*names.name(row[1])), DatasetId(*names.name(row[2])), Seen(*row[3:])
        ),
        runs=(0,),
        names=(1, 2),
    ),
    Table(
        CatalogEntry,
        widening("catalog_entry", 8, "dataset", "kind", "catalog", "metadata_uri", "warehouse_uri", "table_name"),
        lambda fact, numbers: (numbers.name(fact.dataset), *fact.catalog, fact.table, *fact.seen),
        lambda row, names: CatalogEntry(DatasetId(*names.name(row[0])), Catalog(*row[1:5]), row[5], Seen(*row[6:])),
        names=(0,),
    ),
    Table(
        EngineCatalog,
        widening("engine_catalog", 9, "engine", "word", "kind", "metadata_uri", "warehouse_uri", "namespace", "prefix"),
        lambda fact, _: (
            fact.engine,
            fact.word,
            fact.catalog.kind,
            fact.catalog.metadata_uri,
            fact.catalog.warehouse_uri,
            *fact.names,
            *fact.seen,
        ),
        lambda row, _: EngineCatalog(
            row[0], row[1], Catalog(row[2], "", *row[3:5]), DatasetId(*row[5:7]), Seen(*row[7:])
        ),
    ),
    Table(
        Ending,
        widening("ending", 4, "run", "state"),
        lambda fact, numbers: (numbers.run(fact.run_id), fact.state, *fact.seen),
        lambda row, names: Ending(names.run(row[0]), row[1], Seen(*row[2:])),
        runs=(0,),
    ),
    Table(
        ControlFlow,
        widening("control_flow", 6, "run", "way", "job", "dependency"),
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            fact.direction,
            numbers.name(fact.job),
            fact.dependency,
            *fact.seen,
        ),
        lambda row, names: ControlFlow(names.run(row[0]), row[1], JobId(*names.name(row[2])), row[3], Seen(*row[4:])),
        runs=(0,),
        names=(2,),
    ),
    Table(
        JobFlow,
        widening("job_flow", 9, "run", "source_kind", "source", "source_run", "target_kind", "target", "target_run"),
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            *_end(fact.source, numbers),
            fact.source_run or "",
            *_end(fact.target, numbers),
            fact.target_run or "",
            *fact.seen,
        ),
        lambda row, names: JobFlow(
            names.run(row[0]),
            _end_of(row[1], row[2], names),
            _end_of(row[4], row[5], names),
            Seen(*row[7:]),
            row[3] or None,
            row[6] or None,
        ),
        runs=(0,),
        names=(2, 5),
    ),
    Table(
        Quarantined,
        widening("quarantined", 6, "subject", "direction", "namespace", "name"),
        lambda fact, _: (fact.subject, fact.direction, fact.namespace, fact.name, *fact.seen),
        lambda row, _: Quarantined(row[0], row[1], row[2], row[3], Seen(*row[4:])),
    ),
    Table(
        Edit,
        Insert("edit", 6, EDIT),
        lambda fact, _: (json.dumps(fact.target), fact.what, fact.value, fact.log_index, *fact.seen),
        lambda row, _: Edit(target_of_key(row[0]), row[1], row[2], row[3], Seen(*row[4:])),
    ),
    Table(
        Deletion,
        widening("deletion", 5, "target", "log_idx", "is_deleted"),
        lambda fact, _: (json.dumps(fact.target), fact.log_index, int(fact.is_deleted), *fact.seen),
        lambda row, _: Deletion(target_of_key(row[0]), row[1], bool(row[2]), Seen(*row[3:])),
    ),
    Table(
        ChainLink,
        Insert("chain_link", 9, CHAIN_LINK),
        lambda fact, numbers: (
            numbers.name((fact.node, fact.epoch)),
            fact.sequence,
            fact.digest,
            fact.payload_hash,
            fact.previous_hash,
            fact.event_us,
            fact.received_us,
            int(fact.is_proved),
            fact.statements,
        ),
        _chain_link_fact,
        names=(0,),
    ),
)
"""In an order in which a graph can be loaded: contents first, runs before what they observed."""
