"""The tables and columns of a statement, by its text and the known columns of its tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope
from sqlglot.schema import MappingSchema

from headwater.sql.flat import column_spelling
from headwater.sql.names import (
    alias_rules,
    drop_positions_in_stars,
    mark,
    name_by_position,
    rename_in_subqueries,
)
from headwater.sql.outputs import NOTHING, Inputs, OutputColumn, QueryLineage, merged
from headwater.sql.query_lineage import Context, TableColumns, query_lineage
from headwater.sql.reading import LOCAL_BOUNDS, Bounds, Parsed, Parts, UnreadableSqlError, parsed, sqlglot_errors_as
from headwater.sql.rewriting import NO_COLUMN, Rewritten, StatementKind, rewritten
from headwater.sql.transformations import Transformation
from headwater.sql.width import check_width

Known = Callable[[Parts], Sequence[str]]
"""Returns a table's columns by the table's name in the statement; empty if they are unknown."""


class Source(NamedTuple):
    """A column of a table, and its transformation."""

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
        columns: the inputs of each column of the target, or of a query's output.
        rows: the inputs that decide which rows there are.
        gaps: the columns whose inputs are incomplete; `*` if columns may be missing, or tables that it reads without
            naming them.
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


def statement(
    text: str, dialect: str, known: Known, bounds: Bounds = LOCAL_BOUNDS, *, is_in_order: bool = True
) -> Statement:
    """The tables and columns in the text.

    `is_in_order`: whether `known` returns all columns of a table in the table's order; if not, references by position
    are gaps.

    Raises:
        UnreadableSqlError: it cannot be parsed as one statement that moves columns.
    """
    read = parsed(text, dialect, bounds)
    columns = {table: tuple(known(table)) for table in read.tables.values()}
    with sqlglot_errors_as("cannot resolve its columns"):
        check_width(read.tree, [*map(len, columns.values())], bounds)
        spell = column_spelling(read.tree, dialect)
        spelled = {name: _by_spelling(spell, columns[parts]) for name, parts in read.tables.items()}
        return _Analysis(read, spelled, dialect, is_in_order).statement()


def _by_spelling(spell: Callable[[str], str], columns: Iterable[str]) -> dict[str, str]:
    """Columns by their spelling in the statement; the first of several."""
    spelled: dict[str, str] = {}
    for column in columns:
        spelled.setdefault(spell(column), column)
    return spelled


@dataclass(frozen=True, slots=True)
class _Analysis:
    read: Parsed
    spelled: Mapping[str, Mapping[str, str]]
    """For each table, its known columns by their spelling in the statement, in order."""
    dialect: str
    is_in_order: bool

    def statement(self) -> Statement:
        as_queries = rewritten(self.read.tree, self._columns_of)
        if as_queries.target is not None and as_queries.target not in self.read.tables:
            raise UnreadableSqlError("its target is not a complete table name")
        lineage = merged(self._query_lineage(query) for query in as_queries.queries)
        if as_queries.target is not None:
            lineage = self._with_target_columns(lineage, as_queries)
        tables = self.read.tables
        unknown = {name for name, inputs in lineage.columns.items() if any(each.table not in tables for each in inputs)}
        return Statement(
            as_queries.kind,
            None if as_queries.target is None else tables[as_queries.target],
            tuple(tables[name] for name in self._reads(as_queries)),
            {name: self._sources(inputs) for name, inputs in lineage.columns.items()},
            self._sources(lineage.rows),
            tuple(sorted({*lineage.gaps, *unknown, *(() if self.read.is_whole else ("*",))})),
        )

    def _columns_of(self, table: str) -> Sequence[str]:
        """All columns, in order; empty if that is unknown."""
        return [*self.spelled[table].values()] if self.is_in_order else ()

    def _query_lineage(self, query: exp.Query) -> QueryLineage:
        spelled = {name: columns for name, columns in self.spelled.items() if columns}
        schema: dict[str, object] = {name: dict.fromkeys(columns, "UNKNOWN") for name, columns in spelled.items()}
        tables = {name: TableColumns([*columns.values()]) for name, columns in spelled.items()}
        marked = query.copy()
        drop_positions_in_stars(marked, {name for name, columns in self.spelled.items() if not columns})
        name_by_position(marked, self.dialect)
        rename_in_subqueries(marked)
        mark(marked)
        qualified = qualify(
            marked,
            dialect=self.dialect,
            schema=MappingSchema(schema, dialect=self.dialect, normalize=False),
            validate_qualify_columns=False,
            expand_alias_refs=False,  # nested aliases would expand exponentially
            quote_identifiers=False,
            identify=False,
        )
        scope = build_scope(qualified)
        if scope is None:
            raise UnreadableSqlError("it has no columns")
        return query_lineage(scope, Context(tables, self.is_in_order, alias_rules(self.dialect)))

    def _with_target_columns(self, lineage: QueryLineage, as_queries: Rewritten) -> QueryLineage:
        """The lineage with the target's column names; none for a DELETE."""
        if as_queries.kind in ("delete", "merge"):
            kept = () if as_queries.kind == "delete" else lineage.outputs
            return replace(lineage, outputs=tuple(output for output in kept if output.name != NO_COLUMN))
        names: Sequence[str] = as_queries.names
        if not names and as_queries.is_by_position and as_queries.target is not None:
            names = self._columns_of(as_queries.target)
        if not (names or as_queries.is_by_position):
            return lineage
        if not lineage.is_in_order or len(names) != len(lineage.outputs):
            outputs = [OutputColumn(name, NOTHING, is_incomplete=True) for name in as_queries.names or ("*",)]
        else:
            outputs = [output._replace(name=name) for name, output in zip(names, lineage.outputs, strict=True)]
        return replace(lineage, outputs=tuple(outputs))

    def _reads(self, as_queries: Rewritten) -> list[str]:
        """The tables read, with the target only if the statement also reads it, that is, names it a second time."""
        named = [table.name for table in self.read.tree.find_all(exp.Table)]
        if as_queries.target in named:
            named.remove(as_queries.target)
        return [name for name in dict.fromkeys(sorted(named)) if name in self.read.tables]

    def _sources(self, inputs: Inputs) -> frozenset[Source]:
        tables = self.read.tables
        return frozenset(Source(tables[each.table], each.column, each.how) for each in inputs if each.table in tables)
