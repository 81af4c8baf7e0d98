"""A statement's tables and columns, by its text and the columns of the tables that are known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope
from sqlglot.schema import MappingSchema

from headwater.sql.flat import as_called
from headwater.sql.flow import Setting, TableColumns, flow_of
from headwater.sql.made import NOTHING, Flow, Inputs, Place, merged
from headwater.sql.names import mark, name_by_place, rename_in_subqueries, rules_of
from headwater.sql.reading import OF_OWN, Bounds, Parsed, Parts, UnreadableSqlError, parsed, understood
from headwater.sql.rewriting import NO_COLUMN, Rewritten, StatementKind, rewritten
from headwater.sql.transformations import Transformation
from headwater.sql.width import check_width

Known = Callable[[Parts], Sequence[str]]
"""Returns a table's columns, given its name in the statement; empty if they are unknown."""


class Source(NamedTuple):
    """A column of a table, and how it takes part."""

    table: Parts
    column: str
    how: Transformation


@dataclass(frozen=True, slots=True)
class Statement:
    """What a statement reads and writes.

    Attributes:
        target: what it writes; None for a query.
        reads: the tables it reads, without duplicates; not its target, if that is only used to compute its own new
    values.
        columns: of the target, or of the query's answer: the inputs of each.
        rows: the inputs that decide about rows as a whole.
        gaps: the columns that are not fully known; `*` if not even all names are.
    """

    kind: StatementKind
    target: Parts | None
    reads: tuple[Parts, ...]
    columns: Mapping[str, frozenset[Source]]
    rows: frozenset[Source]
    gaps: tuple[str, ...]


def tables_of(text: str, dialect: str) -> tuple[Parts, ...]:
    """The tables that a statement names, without duplicates, in its spelling.

    Raises:
        UnreadableSqlError: the text cannot be parsed as one statement.
    """
    return tuple(parsed(text, dialect).tables.values())


def statement(text: str, dialect: str, known: Known, bounds: Bounds = OF_OWN, *, is_in_order: bool = True) -> Statement:
    """The tables and columns in the text.

    `is_in_order`: whether `known` returns all columns of a table in the table's order; if not, references by position
    are gaps.

    Raises:
        UnreadableSqlError: it cannot be parsed as one statement that moves columns.
    """
    read = parsed(text, dialect, bounds)
    columns = {table: tuple(known(table)) for table in read.tables.values()}
    with understood("its columns cannot be told"):
        check_width(read.tree, [*map(len, columns.values())], bounds)
        call = as_called(read.tree, dialect)
        called = {name: _by(call, columns[parts]) for name, parts in read.tables.items()}
        return _Reader(read, called, dialect, is_in_order).statement()


def _by(call: Callable[[str], str], columns: Iterable[str]) -> dict[str, str]:
    """Columns by their names in the statement; the first of several."""
    called: dict[str, str] = {}
    for column in columns:
        called.setdefault(call(column), column)
    return called


@dataclass(frozen=True, slots=True)
class _Reader:
    read: Parsed
    called: Mapping[str, Mapping[str, str]]
    """For each table, its known columns by their names in the statement, in order."""
    dialect: str
    is_in_order: bool

    def statement(self) -> Statement:
        as_queries = rewritten(self.read.tree, self._columns_of)
        if as_queries.target is not None and as_queries.target not in self.read.tables:
            raise UnreadableSqlError("what it writes is not known")
        flow = merged(self._flow(query) for query in as_queries.queries)
        if as_queries.target is not None:
            flow = self._written(flow, as_queries)
        tables = self.read.tables
        unknown = {name for name, inputs in flow.columns.items() if any(each.table not in tables for each in inputs)}
        return Statement(
            as_queries.kind,
            None if as_queries.target is None else tables[as_queries.target],
            tuple(tables[name] for name in self._reads(as_queries)),
            {name: self._sources(inputs) for name, inputs in flow.columns.items()},
            self._sources(flow.rows),
            tuple(sorted(flow.gaps | unknown)),
        )

    def _columns_of(self, table: str) -> Sequence[str]:
        """All columns, in order; empty if that is unknown."""
        return [*self.called[table].values()] if self.is_in_order else ()

    def _flow(self, query: exp.Query) -> Flow:
        called = {name: columns for name, columns in self.called.items() if columns}
        schema: dict[str, object] = {name: dict.fromkeys(columns, "UNKNOWN") for name, columns in called.items()}
        tables = {name: TableColumns([*columns.values()]) for name, columns in called.items()}
        marked = query.copy()
        name_by_place(marked, self.dialect)
        rename_in_subqueries(marked)
        mark(marked)
        qualified = qualify(
            marked,
            dialect=self.dialect,
            schema=MappingSchema(schema, dialect=self.dialect, normalize=False),
            validate_qualify_columns=False,
            expand_alias_refs=False,  # an alias in an alias in an alias …: each is as long as all before it together
            quote_identifiers=False,
            identify=False,
        )
        scope = build_scope(qualified)
        if scope is None:
            raise UnreadableSqlError("it has no columns")
        return flow_of(scope, Setting(tables, self.is_in_order, rules_of(self.dialect)))

    def _written(self, flow: Flow, as_queries: Rewritten) -> Flow:
        """The flow with the target's column names; a DELETE writes none."""
        if as_queries.kind in ("delete", "merge"):
            kept = () if as_queries.kind == "delete" else flow.places
            return replace(flow, places=tuple(place for place in kept if place.name != NO_COLUMN))
        names: Sequence[str] = as_queries.names
        if not names and as_queries.is_by_position and as_queries.target is not None:
            names = self._columns_of(as_queries.target)
        if not (names or as_queries.is_by_position):
            return flow
        if not flow.is_in_order or len(names) != len(flow.places):
            places = [Place(name, NOTHING, is_open=True) for name in as_queries.names or ("*",)]
        else:
            places = [place._replace(name=name) for name, place in zip(names, flow.places, strict=True)]
        return replace(flow, places=tuple(places))

    def _reads(self, as_queries: Rewritten) -> list[str]:
        """The tables read: the statement names its target once as target; if it is also read, it is named again."""
        named = [table.name for table in self.read.tree.find_all(exp.Table)]
        if as_queries.target in named:
            named.remove(as_queries.target)
        return [name for name in dict.fromkeys(sorted(named)) if name in self.read.tables]

    def _sources(self, inputs: Inputs) -> frozenset[Source]:
        tables = self.read.tables
        return frozenset(Source(tables[each.table], each.column, each.how) for each in inputs if each.table in tables)
