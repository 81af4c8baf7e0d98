"""A statement's column lineage, found by running it: change the values of a column, and compare the results.

This is independent of the analysis of the text. A difference proves that a column is an input; no difference proves
nothing, so only inputs that the analysis misses are searched for.
"""

# ruff: noqa: S608  (SQL texts are the test data)

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Final, NamedTuple

import duckdb

from headwater.sql.columns import Statement
from tests.support.sql_statements import TABLES

Column = tuple[str, str]
"""A table, and one of its columns."""
Rows = Sequence[Sequence[Any]]
Data = Mapping[str, Rows]
Number = Callable[[Random], int | None]

EVERY: Final = frozenset((table, column) for table, columns in TABLES.items() for column in columns)
_USUAL: Final[Number] = lambda random: random.choice([None, 0, 1, 1, 2, 2, 3, 4])  # noqa: E731
_CHANGES: Final[Sequence[Number]] = (
    _USUAL,
    lambda random: random.choice([None, -3, 0, 2, 5, 1000]),
    lambda _: 2,
    lambda _: None,
)
"""Replacement values of a column: others, distant ones, a constant, null."""
_SHUFFLES: Final = 5


class Missing(NamedTuple):
    """Result columns, by position, that change with columns of which none is reported as their input."""

    positions: tuple[int, ...]
    unreported: frozenset[Column]


class Database:
    """DuckDB with the three tables, in one thread, so that equal data gives equal results."""

    def __init__(self) -> None:
        self._database = duckdb.connect(":memory:", config={"threads": 1})
        for table, columns in TABLES.items():
            listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
            self._database.execute(f"CREATE TABLE {table} ({listed})")

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def result(self, sql: str, written: str | None, data: Data) -> Rows:
        """The query's rows, or after a write those of the written table.

        Raises:
            duckdb.Error: the statement is not valid, or cannot be run over such values.
        """
        self._database.execute("BEGIN")
        try:
            for table, rows in data.items():
                values = ", ".join(map(str, rows)).replace("None", "NULL")
                self._database.execute(f"INSERT INTO {table} VALUES {values}")
            result = self._database.execute(sql).fetchall()
            return result if written is None else self._database.execute(f"SELECT * FROM {written}").fetchall()
        finally:
            self._database.execute("ROLLBACK")


def missing(database: Database, sql: str, lineage: Statement, random: Random) -> Missing | None:
    """Inputs that the analysis misses; None if none is found.

    Raises:
        duckdb.Error: the statement is not valid.
    """
    written = None if lineage.target is None else lineage.target[-1]
    before = _any_data(random)
    original = database.result(sql, written, before)
    claims = [*_claims(lineage, written)]
    for unreported in {unreported for _, unreported in claims}:
        for change in _CHANGES:
            after = _changed(before, unreported, change, random)
            with suppress(duckdb.Error):  # it fails for such values
                changed = database.result(sql, written, after)
                for positions in (positions for positions, columns in claims if columns == unreported):
                    is_other = _at(original, positions) != _at(changed, positions)
                    if is_other and all(
                        _is_certain(database, sql, written, data, positions, random) for data in (before, after)
                    ):
                        return Missing(positions, unreported)
    return None


def _claims(lineage: Statement, written: str | None) -> Iterator[tuple[tuple[int, ...], frozenset[Column]]]:
    """Positions with the columns that are not their inputs, by the analysis: each alone, and a query's rows."""
    rows = {(source.table[-1], source.column) for source in lineage.rows}
    names = [*lineage.columns] if written is None else [*TABLES[written]]
    every: set[Column] = {*rows}
    known = []
    for at, name in enumerate(names):
        if name in lineage.gaps or "*" in lineage.gaps:
            continue
        inputs = {(source.table[-1], source.column) for source in lineage.columns.get(name, ())}
        inputs |= {(written, name)} if written is not None else set()  # its previous value
        every |= inputs
        known.append(at)
        yield (at,), EVERY - inputs - rows
    if written is None:
        yield tuple(known), EVERY - every


def _is_certain(
    database: Database, sql: str, written: str | None, data: Data, positions: tuple[int, ...], random: Random
) -> bool:
    """Whether the result depends on the data alone, not on an unspecified order of rows."""
    results = []
    for _ in range(_SHUFFLES):
        shuffled = {table: random.sample(rows, len(rows)) for table, rows in data.items()}
        try:
            results.append(_at(database.result(sql, written, shuffled), positions))
        except duckdb.Error:
            return False
    return all(result == results[0] for result in results)


def _at(rows: Rows, positions: tuple[int, ...]) -> Counter[str]:
    return Counter(str([row[position] for position in positions]) for row in rows)


def _any_data(random: Random) -> Data:
    return {
        table: [tuple(_value(kind, _USUAL, random) for kind in columns.values()) for _ in range(random.randrange(3, 7))]
        for table, columns in TABLES.items()
    }


def _changed(data: Data, columns: frozenset[Column], change: Number, random: Random) -> Data:
    return {
        table: [
            tuple(
                _value(kind, change, random) if (table, name) in columns else value
                for (name, kind), value in zip(TABLES[table].items(), row, strict=True)
            )
            for row in rows
        ]
        for table, rows in data.items()
    }


def _value(kind: str, number: Number, random: Random) -> object:
    if kind.startswith("STRUCT"):
        return {"p": number(random), "q": number(random)}
    return [number(random) for _ in range(random.randrange(4))] if kind.endswith("[]") else number(random)
