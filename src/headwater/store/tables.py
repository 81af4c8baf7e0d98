"""One table a kind of fact: how a fact becomes a row, how two rows with one key merge, how a row becomes a fact.

The merges are those of `headwater.model.facts`, written in SQL that SQLite and PostgreSQL both understand; a property
test compares them.
"""

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
    Edit,
    Ending,
    EngineCatalog,
    Fact,
    JobFacet,
    JobFlow,
    Observation,
    ObservedFacet,
    ParentRun,
    Quarantined,
    RunFacet,
    RunOfJob,
    RunTimes,
    Seen,
    Target,
)
from headwater.model.names import DatasetId, JobId
from headwater.store.bulk import Insert
from headwater.store.connection import Row
from headwater.store.packing import content_of_row, held


class Numbers(Protocol):
    """The numbers that stand for names and runs in this database."""

    def name(self, pair: tuple[str, str]) -> object:
        """The number of a pair (namespace, name)."""

    def run(self, run_id: str) -> object:
        """The number of a run."""


class Names(Protocol):
    """What the numbers stand for."""

    def name(self, number: int) -> tuple[str, str]:
        """The pair (namespace, name)."""

    def run(self, number: int) -> str:
        """The run's id."""


class _Themselves:
    """Names and runs in the place of numbers, for rows that stand in no database."""

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
    """Where facts of one kind are kept. `row` and `fact` are inverse to each other."""

    kind: type[FactT]
    insert: Insert
    select: str
    row: Callable[[FactT, Numbers], Row]
    fact: Callable[[Row, Names], FactT]
    runs: tuple[int, ...] = ()
    """The columns that hold numbers of runs, from 0."""
    names: tuple[int, ...] = ()
    """Those that hold numbers of names; in them None and 0 stand for none."""

    def named(self, rows: Iterable[Row], names: Names) -> Iterator[Row]:
        """The rows with what the numbers stand for in their places: what `row` makes with `THEMSELVES`."""
        rows = iter(rows)
        while some := list(islice(rows, _NAMED_TOGETHER)):
            columns: list[Iterable[Any]] = list(zip(*some, strict=True))  # by columns, in a third of the time
            for at in self.runs:
                columns[at] = [names.run(number) for number in columns[at]]
            for at in self.names:
                columns[at] = [number and names.name(number) for number in columns[at]]
            yield from zip(*columns, strict=True)


def _last_writer(table: str, columns: int, *key: str) -> Insert:
    return Insert(
        table,
        columns,
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET content = excluded.content, stamp_us = excluded.stamp_us, "
        "stamp_digest = excluded.stamp_digest WHERE (excluded.stamp_us, excluded.stamp_digest, excluded.content) "
        f"> ({table}.stamp_us, {table}.stamp_digest, {table}.content)",
    )


def _widening(table: str, columns: int, *key: str) -> Insert:
    return Insert(
        table,
        columns,
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {_wider(table)} "
        f"WHERE excluded.first_us < {table}.first_us OR excluded.last_us > {table}.last_us",
    )


def _wider(table: str) -> str:
    first = _new_if(f"excluded.first_us < {table}.first_us", table, "first_us")
    return f"{first}, {_new_if(f'excluded.last_us > {table}.last_us', table, 'last_us')}"


def _new_if(is_so: str, table: str, *columns: str) -> str:
    """Columns take the new value if it is so; the two databases have no function in common for that."""
    return ", ".join(f"{each} = CASE WHEN {is_so} THEN excluded.{each} ELSE {table}.{each} END" for each in columns)


_LATER_STATE = (
    "(excluded.rank, excluded.stamp_us, excluded.stamp_digest) "
    "> (run_times.rank, run_times.stamp_us, run_times.stamp_digest)"
)
_RUN_TIMES = (
    f"ON CONFLICT (run) DO UPDATE SET {_wider('run_times')}, "
    f"{_new_if(_LATER_STATE, 'run_times', 'rank', 'stamp_us', 'stamp_digest', 'state')}"
)
_RUN_OF_JOB = (
    "ON CONFLICT (run) DO UPDATE SET job = excluded.job, parent_run = excluded.parent_run, "
    "parent_job = excluded.parent_job, root_run = excluded.root_run, root_job = excluded.root_job, "
    "stamp_us = excluded.stamp_us, stamp_digest = excluded.stamp_digest WHERE "
    "(excluded.parent_run IS NOT NULL, excluded.root_run IS NOT NULL, excluded.stamp_us, excluded.stamp_digest) > "
    "(run_of_job.parent_run IS NOT NULL, run_of_job.root_run IS NOT NULL, run_of_job.stamp_us, run_of_job.stamp_digest)"
)
_EDIT = (
    f"ON CONFLICT (target, what) DO UPDATE SET {_wider('edit')}, "
    f"{_new_if('(excluded.log_idx, excluded.value) > (edit.log_idx, edit.value)', 'edit', 'log_idx', 'value')}"
)

_CHAIN_LINK = (
    "ON CONFLICT (epoch, sequence, digest) DO UPDATE SET "
    f"{_new_if('excluded.received_us < chain_link.received_us', 'chain_link', 'received_us')}, "
    f"{_new_if('excluded.is_proved > chain_link.is_proved', 'chain_link', 'is_proved')}"
)


def target_of_key(key: str) -> Target:
    """The target that a key in the table `edit` stands for."""
    return tuple(json.loads(key))


def _whole(whole: ParentRun | None, numbers: Numbers) -> Row:
    return (None, None) if whole is None else (whole.run_id, numbers.name(whole.job))


def _run_of_job_fact(row: Row, names: Names) -> RunOfJob:
    parent = None if row[2] is None else ParentRun(row[2], JobId(*names.name(row[3])))
    root = None if row[4] is None else ParentRun(row[4], JobId(*names.name(row[5])))
    whole = parent, parent if root == parent else root  # one object, as it is for most runs
    return RunOfJob(names.run(row[0]), JobId(*names.name(row[1])), *whole, Stamp(*row[6:8]))


def _chain_link_fact(row: Row, names: Names) -> ChainLink:
    node, epoch = names.name(row[0])
    return ChainLink(node, epoch, row[1], row[2], row[3], row[4], row[5], row[6], bool(row[7]), row[8])


_OWN = ("own", 0)


def _end(end: JobId | DatasetId | None, numbers: Numbers) -> tuple[str, object]:
    return _OWN if end is None else ("job" if isinstance(end, JobId) else "dataset", numbers.name(end))


def _end_of(kind: str, number: int, names: Names) -> JobId | DatasetId | None:
    return None if kind == _OWN[0] else (JobId if kind == "job" else DatasetId)(*names.name(number))


TABLES: tuple[Table[Any], ...] = (
    Table(
        Content,
        Insert("content", 2, "ON CONFLICT (digest) DO NOTHING"),
        "SELECT * FROM content",
        lambda fact, _: (fact.digest, held(fact.body)),
        lambda row, _: Content(row[0], content_of_row(row[1])),
    ),
    Table(
        RunTimes,
        Insert("run_times", 7, _RUN_TIMES),
        "SELECT * FROM run_times",
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            fact.seen.first_us,
            fact.seen.last_us,
            fact.state[0],
            *fact.state[1],
            fact.state[2],
        ),
        lambda row, names: RunTimes(names.run(row[0]), Seen(*row[1:3]), (row[3], Stamp(*row[4:6]), row[6])),
        runs=(0,),
    ),
    Table(
        RunOfJob,
        Insert("run_of_job", 8, _RUN_OF_JOB),
        "SELECT * FROM run_of_job",
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            numbers.name(fact.job),
            *(part for whole in (fact.parent, fact.root) for part in _whole(whole, numbers)),
            *fact.stamp,
        ),
        _run_of_job_fact,
        runs=(0,),
        names=(1, 3, 5),
    ),
    Table(
        RunFacet,
        _last_writer("run_facet", 5, "run", "name"),
        "SELECT * FROM run_facet",
        lambda fact, numbers: (numbers.run(fact.run_id), fact.name, fact.content, *fact.stamp),
        lambda row, names: RunFacet(names.run(row[0]), row[1], row[2], Stamp(*row[3:])),
        runs=(0,),
    ),
    Table(
        JobFacet,
        _last_writer("job_facet", 5, "job", "name"),
        "SELECT * FROM job_facet",
        lambda fact, numbers: (numbers.name(fact.job), fact.name, fact.content, *fact.stamp),
        lambda row, names: JobFacet(JobId(*names.name(row[0])), row[1], row[2], Stamp(*row[3:])),
        names=(0,),
    ),
    Table(
        Observation,
        _widening("observation", 5, "run", "direction", "dataset"),
        "SELECT * FROM observation",
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            fact.direction,
            numbers.name(fact.dataset),
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, names: Observation(names.run(row[0]), row[1], DatasetId(*names.name(row[2])), Seen(*row[3:])),
        runs=(0,),
        names=(2,),
    ),
    Table(
        ObservedFacet,
        _last_writer("observed_facet", 8, "run", "direction", "dataset", "slot", "name"),
        "SELECT * FROM observed_facet",
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
        ColumnEvidence,
        _widening("column_evidence", 6, "run", "target", "strength", "content"),
        "SELECT * FROM column_evidence",
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            numbers.name(fact.target),
            fact.strength,
            fact.content,
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, names: ColumnEvidence(
            names.run(row[0]), DatasetId(*names.name(row[1])), row[2], row[3], Seen(*row[4:])
        ),
        runs=(0,),
        names=(1,),
    ),
    Table(
        Declaration,
        _last_writer("declaration", 5, "kind", "node"),
        "SELECT * FROM declaration",
        lambda fact, numbers: (fact.kind, numbers.name(fact.node), fact.content, *fact.stamp),
        lambda row, names: Declaration(
            (JobId if row[0] == "job" else DatasetId)(*names.name(row[1])), row[2], Stamp(*row[3:])
        ),
        names=(1,),
    ),
    Table(
        DeclaredTimes,
        _widening("declared_times", 4, "kind", "node"),
        "SELECT * FROM declared_times",
        lambda fact, numbers: (fact.kind, numbers.name(fact.node), fact.seen.first_us, fact.seen.last_us),
        lambda row, names: DeclaredTimes(
            (JobId if row[0] == "job" else DatasetId)(*names.name(row[1])), Seen(*row[2:])
        ),
        names=(1,),
    ),
    Table(
        DeclaredShape,
        Insert("declared_shape", 5, "ON CONFLICT (dataset, stamp_us, stamp_digest) DO NOTHING"),
        "SELECT * FROM declared_shape",
        lambda fact, numbers: (numbers.name(fact.dataset), *fact.stamp, fact.schema, fact.version),
        lambda row, names: DeclaredShape(DatasetId(*names.name(row[0])), Stamp(*row[1:3]), *row[3:]),
        names=(0,),
    ),
    Table(
        Alias,
        _widening("alias", 5, "name", "alias", "evidence"),
        "SELECT * FROM alias",
        lambda fact, numbers: (
            numbers.name(fact.name),
            numbers.name(fact.alias),
            fact.evidence,
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, names: Alias(
            DatasetId(*names.name(row[0])), DatasetId(*names.name(row[1])), row[2], Seen(*row[3:])
        ),
        names=(0, 1),
    ),
    Table(
        CatalogEntry,
        _widening("catalog_entry", 8, "dataset", "kind", "catalog", "metadata_uri", "warehouse_uri", "table_name"),
        "SELECT * FROM catalog_entry",
        lambda fact, numbers: (
            numbers.name(fact.dataset),
            *fact.catalog,
            fact.table,
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, names: CatalogEntry(DatasetId(*names.name(row[0])), Catalog(*row[1:5]), row[5], Seen(*row[6:])),
        names=(0,),
    ),
    Table(
        EngineCatalog,
        _widening(
            "engine_catalog", 9, "engine", "word", "kind", "metadata_uri", "warehouse_uri", "namespace", "prefix"
        ),
        "SELECT * FROM engine_catalog",
        lambda fact, _: (
            fact.engine,
            fact.word,
            fact.catalog.kind,
            fact.catalog.metadata_uri,
            fact.catalog.warehouse_uri,
            *fact.names,
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, _: EngineCatalog(
            row[0], row[1], Catalog(row[2], "", *row[3:5]), DatasetId(*row[5:7]), Seen(*row[7:])
        ),
    ),
    Table(
        Ending,
        _widening("ending", 4, "run", "state"),
        "SELECT * FROM ending",
        lambda fact, numbers: (numbers.run(fact.run_id), fact.state, fact.seen.first_us, fact.seen.last_us),
        lambda row, names: Ending(names.run(row[0]), row[1], Seen(*row[2:])),
        runs=(0,),
    ),
    Table(
        ControlFlow,
        _widening("control_flow", 6, "run", "way", "job", "dependency"),
        "SELECT * FROM control_flow",
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            fact.way,
            numbers.name(fact.job),
            fact.dependency,
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, names: ControlFlow(names.run(row[0]), row[1], JobId(*names.name(row[2])), row[3], Seen(*row[4:])),
        runs=(0,),
        names=(2,),
    ),
    Table(
        JobFlow,
        _widening("job_flow", 7, "run", "source_kind", "source", "target_kind", "target"),
        "SELECT * FROM job_flow",
        lambda fact, numbers: (
            numbers.run(fact.run_id),
            *_end(fact.source, numbers),
            *_end(fact.target, numbers),
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, names: JobFlow(
            names.run(row[0]), _end_of(row[1], row[2], names), _end_of(row[3], row[4], names), Seen(*row[5:])
        ),
        runs=(0,),
        names=(2, 4),
    ),
    Table(
        Quarantined,
        _widening("quarantined", 6, "subject", "direction", "namespace", "name"),
        "SELECT * FROM quarantined",
        lambda fact, _: (
            fact.subject,
            fact.direction,
            fact.namespace,
            fact.name,
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, _: Quarantined(row[0], row[1], row[2], row[3], Seen(*row[4:])),
    ),
    Table(
        Edit,
        Insert("edit", 6, _EDIT),
        "SELECT * FROM edit",
        lambda fact, _: (
            json.dumps(fact.target),
            fact.what,
            fact.value,
            fact.log_index,
            fact.seen.first_us,
            fact.seen.last_us,
        ),
        lambda row, _: Edit(target_of_key(row[0]), row[1], row[2], row[3], Seen(*row[4:])),
    ),
    Table(
        ChainLink,
        Insert("chain_link", 9, _CHAIN_LINK),
        "SELECT * FROM chain_link",
        lambda fact, numbers: (
            numbers.name((fact.node, fact.epoch)),
            fact.sequence,
            fact.digest,
            fact.payload_hash,
            fact.previous_hash,
            fact.event_us,
            fact.received_us,
            int(fact.is_proved),
            fact.said,
        ),
        _chain_link_fact,
        names=(0,),
    ),
)
"""In this order a graph can be loaded: contents first, runs before what they observed."""
