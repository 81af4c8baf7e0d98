"""Random statements over three small tables, in DuckDB's SQL; most are valid, and short for the features they use.

The same seed gives the same statement. `tests/support/sql_by_running.py` finds the inputs of their columns.
"""

# ruff: noqa: S311, S608  (random test data; SQL texts are the test data)

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")

TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "a": {"k": "INTEGER", "x": "INTEGER", "y": "INTEGER", "l": "INTEGER[]"},
    "b": {"k": "INTEGER", "x": "INTEGER", "z": "INTEGER", "l": "INTEGER[]"},
    "c": {"k": "INTEGER", "y": "INTEGER", "w": "INTEGER", "r": "STRUCT(p INTEGER, q INTEGER)"},
}
"""The columns of each table and their types; several share names, so that name resolution matters."""

_COMPARISONS: Final = ("=", "<", ">", "<>", "IS DISTINCT FROM")
_JOINS: Final = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


@dataclass(frozen=True)
class Relation:
    """A source of a query by its alias, with its integer columns."""

    name: str
    columns: Sequence[str]


class Query(NamedTuple):
    """A query and its output columns, all of them integers."""

    sql: str
    columns: Sequence[str]


class Statements:
    """Generates statements; `depth` bounds the nesting of queries."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._names = 0
        self._common: list[Relation] = []

    def statement(self, depth: int) -> str:
        """A query in three cases of four; otherwise a statement that writes a table."""
        if self._chance(0.75):
            return self.query(depth).sql
        written = self._one(TABLES)
        columns = _integers(written)
        target = Relation("target", columns)
        column, other = self._random.sample(columns, 2)
        read, text = self._source(depth)
        both = [target, read]
        return self._one(
            [
                f"INSERT INTO {written} ({column}, {other}) {self.query(depth, width=2).sql}",
                f"UPDATE {written} AS target SET {column} = {self._value(both, depth)} FROM {text}"
                f" WHERE {self._condition(both, depth)}",
                f"DELETE FROM {written} AS target USING {text} WHERE {self._condition(both, depth)}",
                f"MERGE INTO {written} AS target USING {text} ON {self._condition(both, 0)}"
                f" WHEN MATCHED THEN UPDATE SET {column} = {self._value(both, 0)}"
                f" WHEN NOT MATCHED AND {self._condition([read], 0)} THEN INSERT ({other})"
                f" VALUES ({self._value([read], 0)})",
            ]
        )

    def query(self, depth: int, width: int | None = None, outer: Sequence[Relation] = ()) -> Query:
        """A query with this many columns; `outer`: the sources of enclosing queries that it may reference."""
        width = width or self._random.randrange(1, 4)
        if depth and self._chance(0.2):
            return self._set_operation(depth - 1, width)
        if depth and self._chance(0.2):
            return self._with_common_table(depth - 1, width)
        return self._select(depth, width, outer)

    def _set_operation(self, depth: int, width: int) -> Query:
        one, other = self.query(depth, width), self.query(depth, width)
        operation = self._one(["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL"])
        places = self._random.sample(range(1, width + 1), width)
        order = f" ORDER BY {', '.join(map(str, places))} LIMIT 3" if self._chance(0.2) else ""
        return Query(f"({one.sql}) {operation} ({other.sql}){order}", one.columns)

    def _with_common_table(self, depth: int, width: int) -> Query:
        inner = self.query(depth)
        name = self._one([self._new("w"), "a", "b"])  # a common table may hide a table of that name
        columns = [f"{column}_" for column in inner.columns]
        is_renamed = self._chance(0.3)
        head = f"{name} ({', '.join(columns)})" if is_renamed else name
        self._common.append(Relation(name, columns if is_renamed else inner.columns))
        outer = self.query(depth, width)
        self._common.pop()
        return Query(f"WITH {head} AS ({inner.sql}) {outer.sql}", outer.columns)

    def _select(self, depth: int, width: int, outer: Sequence[Relation]) -> Query:
        sources, text = self._from(depth)
        names = self._random.sample(["k", "x", "y", "z", "o", "p"], width)
        where = f" WHERE {self._condition([*sources, *outer], depth)}" if self._chance(0.4) or outer else ""
        if self._chance(0.3):
            values, end = self._grouped(sources, names)
        else:
            values, end = self._ungrouped([*sources, *outer], depth, names)
        items = ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
        distinct = "DISTINCT " if self._chance(0.1) else ""
        if self._chance(0.2):
            places = "".join(f", {at}" for at in range(1, width + 1))
            end += f" ORDER BY {self._one(names)}{self._one(['', ' + 1', ' DESC'])}{places} LIMIT 2"
        return Query(f"SELECT {distinct}{items} FROM {text}{where}{end}", names)

    def _grouped(self, sources: Sequence[Relation], names: Sequence[str]) -> tuple[list[str], str]:
        key = self._column(sources)
        values = [key if at == 0 and self._chance(0.6) else self._aggregate(sources) for at in range(len(names))]
        forms = [key, f"ROLLUP ({key})", f"GROUPING SETS (({key}), ())", "ALL", *(["1"] if values[0] == key else ())]
        having = f" HAVING {self._aggregate(sources)} > 1" if self._chance(0.3) else ""
        having = f" HAVING {names[-1]} > 1" if having and self._chance(0.3) else having
        return values, f" GROUP BY {self._one(forms)}{having}"

    def _ungrouped(self, sources: Sequence[Relation], depth: int, names: Sequence[str]) -> tuple[list[str], str]:
        values = [self._value(sources, depth) for _ in names]
        if self._chance(0.3):
            values[-1] = self._window(sources)
        if len(names) > 1 and self._chance(0.1):
            values[-1] = f"{names[0]} + 1"
        qualify = f" QUALIFY {self._window(sources)} > 1" if self._chance(0.1) else ""
        return values, qualify

    def _from(self, depth: int) -> tuple[list[Relation], str]:
        read, text = self._source(depth)
        sources = [read]
        for _ in range(self._one([0, 0, 1, 1, 2])):
            other, other_text = self._source(depth)
            both = [*sources, other]
            shared = [column for column in other.columns if any(column in each.columns for each in sources)]
            join = self._one(_JOINS)
            kind = self._random.randrange(8)
            if kind == 0 and shared and len(sources) == 1:
                text += f" {join} {other_text} USING ({self._one(shared)})"
            elif kind == 1:
                text += f" {self._one(['SEMI', 'ANTI'])} JOIN {other_text} ON {self._condition(both, 0)}"
                continue
            elif kind == 2:
                other = Relation(self._new("e"), ["v"])
                one, another, begin = (self._value(sources, 0) for _ in range(3))
                text += f" CROSS JOIN unnest([{one}, {another}][{begin}:]) AS {other.name} (v)"
            elif kind == 3:
                inner = self.query(max(depth - 1, 0), outer=sources)
                other = Relation(self._new("d"), inner.columns)
                text += f" CROSS JOIN LATERAL ({inner.sql}) AS {other.name}"
            elif kind == 4:
                third, third_text = self._source(0)
                text += f" {join} ({other_text} JOIN {third_text} ON {self._condition([other, third], 0)})"
                text += f" ON {self._condition([*both, third], 0)}"
                sources.append(third)
            else:
                text += f" {join} {other_text} ON {self._condition(both, 0)}"
            sources.append(other)
        return sources, text

    def _source(self, depth: int) -> tuple[Relation, str]:
        """A source with an alias of its own."""
        name = self._new("t")
        if self._common and self._chance(0.5):
            common = self._one(self._common)
            return Relation(name, common.columns), f"{common.name} AS {name}"
        if depth and self._chance(0.3):
            inner = self.query(depth - 1)
            return Relation(name, inner.columns), f"({inner.sql}) AS {name}"
        hidden = {common.name for common in self._common}
        table = self._one([each for each in TABLES if each not in hidden])
        columns = _integers(table)
        match self._random.randrange(8):
            case 0:
                return Relation(name, ["g", "h", columns[2]]), f"{table} AS {name} (g, h)"
            case 1:
                text = f"{table} UNPIVOT (v FOR n IN ({columns[1]}, {columns[2]})) AS {name}"
                return Relation(name, ["k", "v"]), text
            case 2:
                text = f"{table} PIVOT (sum({columns[1]}) FOR {columns[2]} IN (1 AS one, 2 AS two)) AS {name}"
                return Relation(name, ["k", "one", "two"]), text
        return Relation(name, columns), f"{table} AS {name}"

    def _column(self, sources: Sequence[Relation]) -> str:
        read = self._one(sources)
        column = self._one(read.columns)
        is_plain = sum(column in each.columns for each in sources) == 1
        return column if is_plain and self._chance(0.4) else f"{read.name}.{column}"

    def _value(self, sources: Sequence[Relation], depth: int) -> str:
        if not depth or self._chance(0.4):
            return self._column(sources) if self._chance(0.9) else str(self._random.randrange(5))
        one, other, third = (self._value(sources, depth - 1) for _ in range(3))
        condition = self._condition(sources, depth - 1)
        return self._one(
            [
                f"({one} - {other})",
                f"coalesce({one}, {other})",
                f"nullif({one}, {other})",
                f"CASE WHEN {condition} THEN {one} ELSE {other} END",
                f"CASE {one} WHEN {other} THEN {third} END",
                f"greatest({one}, {other})",
                f"{{'p': {one}, 'q': {other}}}.p",
                f"[{one}, {other}][{third}]",
                f"len(list_filter([{one}, {other}], v -> v > {third}))",
                f"list_sum(list_transform([{one}, {other}], v -> v + {third}))::INTEGER",
                f"(SELECT {self._aggregated_over(sources, depth - 1)})",
            ]
        )

    def _aggregated_over(self, outer: Sequence[Relation], depth: int) -> str:
        inner = self.query(depth, outer=outer)
        return f"{self._one(['max', 'count'])}(s.{self._one(inner.columns)}) FROM ({inner.sql}) AS s"

    def _condition(self, sources: Sequence[Relation], depth: int) -> str:
        one, other = self._value(sources, 0), self._value(sources, max(depth - 1, 0))
        forms = [f"{one} {comparison} {other}" for comparison in _COMPARISONS]
        forms += [f"{one} IS NOT NULL", f"{one} BETWEEN 1 AND {other}", f"({one} = {other} OR {one} > 2)"]
        if depth:
            forms.append(f"{one} IN ({self.query(depth - 1, width=1).sql})")
            forms.append(f"{self._one(['', 'NOT '])}EXISTS ({self.query(depth - 1, outer=sources).sql})")
        return self._one(forms)

    def _aggregate(self, sources: Sequence[Relation]) -> str:
        one, other = self._column(sources), self._column(sources)
        return self._one(
            [
                "count(*)",
                f"count({one})",
                f"sum({one})",
                f"max({one}) FILTER (WHERE {other} > 1)",
                f"count(DISTINCT {one})",
                f"quantile_disc({one}, 0.5)",
                f"list({one} ORDER BY {one}, {other})[1]",
                f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {one})",
            ]
        )

    def _window(self, sources: Sequence[Relation]) -> str:
        one, other, third = (self._column(sources) for _ in range(3))
        function = self._one([f"sum({one})", "rank()", "count(*)", f"max({one}) FILTER (WHERE {other} > 1)"])
        return f"{function} OVER ({self._one(['', f'PARTITION BY {other} '])}ORDER BY {third})"

    def _new(self, begin: str) -> str:
        self._names += 1
        return f"{begin}{self._names}"

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _one(self, of: Iterable[T]) -> T:
        return self._random.choice([*of])


def _integers(table: str) -> list[str]:
    return [column for column, kind in TABLES[table].items() if kind == "INTEGER"]
