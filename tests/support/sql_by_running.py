"""Finds the inputs of a statement's columns by running it: change a column's values, and see which results change.

This is independent of analysing the text, so the two do not share mistakes. A changed result proves that a column is an
input; an unchanged one proves nothing, so only inputs missing in the analysis are looked for.
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
"""The replacement values of a column: others, distant ones, a constant, NULL."""
_SHUFFLES: Final = 5


class Missing(NamedTuple):
    """Result columns that change with table columns, none of which the analysis names as their input."""

    places: tuple[int, ...]
    untold: frozenset[Column]


class Database:
    """DuckDB with the three tables, single-threaded, so that equal data gives equal answers."""

    def __init__(self) -> None:
        self._database = duckdb.connect(":memory:", config={"threads": 1})
        for table, columns in TABLES.items():
            listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
            self._database.execute(f"CREATE TABLE {table} ({listed})")

    def close(self) -> None:
        """Close it."""
        self._database.close()

    def answer(self, sql: str, written: str | None, data: Data) -> Rows:
        """The query's rows, or those of the table that the statement writes, after running it.

        Raises:
            duckdb.Error: the statement is not valid, or cannot be run over such values.
        """
        self._database.execute("BEGIN")
        try:
            for table, rows in data.items():
                values = ", ".join(map(str, rows)).replace("None", "NULL")
                self._database.execute(f"INSERT INTO {table} VALUES {values}")
            answer = self._database.execute(sql).fetchall()
            return answer if written is None else self._database.execute(f"SELECT * FROM {written}").fetchall()
        finally:
            self._database.execute("ROLLBACK")


def missing(database: Database, sql: str, analysed: Statement, random: Random) -> Missing | None:
    """The inputs that the analysis of the text misses; None if none is found.

    Raises:
        duckdb.Error: the statement is not valid.
    """
    written = None if analysed.target is None else analysed.target[-1]
    before = _any_data(random)
    found = database.answer(sql, written, before)
    claims = [*_claims(analysed, written)]
    for untold in {untold for _, untold in claims}:
        for change in _CHANGES:
            after = _changed(before, untold, change, random)
            with suppress(duckdb.Error):  # it fails on such values
                changed = database.answer(sql, written, after)
                for places in (places for places, of in claims if of == untold):
                    is_other = _at(found, places) != _at(changed, places)
                    if is_other and all(
                        _is_certain(database, sql, written, data, places, random) for data in (before, after)
                    ):
                        return Missing(places, untold)
    return None


def _claims(analysed: Statement, written: str | None) -> Iterator[tuple[tuple[int, ...], frozenset[Column]]]:
    """Result columns with the inputs that the analysis excludes: each column by itself, and the rows as a whole."""
    rows = {(source.table[-1], source.column) for source in analysed.rows}
    names = [*analysed.columns] if written is None else [*TABLES[written]]
    every: set[Column] = {*rows}
    known = []
    for at, name in enumerate(names):
        if name in analysed.gaps or "*" in analysed.gaps:
            continue
        inputs = {(source.table[-1], source.column) for source in analysed.columns.get(name, ())}
        inputs |= {(written, name)} if written is not None else set()  # its previous content
        every |= inputs
        known.append(at)
        yield (at,), EVERY - inputs - rows
    if written is None:
        yield tuple(known), EVERY - every


def _is_certain(
    database: Database, sql: str, written: str | None, data: Data, places: tuple[int, ...], random: Random
) -> bool:
    """Whether the answer depends on the data alone, not on an unspecified order of equal rows."""
    answers = []
    for _ in range(_SHUFFLES):
        shuffled = {table: random.sample(rows, len(rows)) for table, rows in data.items()}
        try:
            answers.append(_at(database.answer(sql, written, shuffled), places))
        except duckdb.Error:
            return False
    return all(answer == answers[0] for answer in answers)


def _at(rows: Rows, places: tuple[int, ...]) -> Counter[str]:
    return Counter(str([row[place] for place in places]) for row in rows)


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
