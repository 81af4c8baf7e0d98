"""Small tables whose columns can be changed, to find out from a query's result which columns it depends on."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from headwater.graph.sparkplan.leaves import Leaf
from headwater.graph.sparkplan.lineage import PlanLineage, column_lineage
from headwater.graph.sparkplan.plan import parse_plan


class Column(NamedTuple):
    """A column of a table: its values in SQL, one per row, and as many other values."""

    kind: str
    values: tuple[str, ...]
    others: tuple[str, ...]


TABLES: Final[Mapping[str, Mapping[str, Column]]] = {
    "orders": {
        "order_id": Column("BIGINT", ("1", "2", "3", "4"), ("4", "2", "77", "1")),
        "customer_id": Column("BIGINT", ("10", "10", "20", "30"), ("20", "30", "10", "2")),
        "amount": Column("DOUBLE", ("5", "7.5", "2.5", "9"), ("100", "0.5", "3", "-1")),
        "status": Column("STRING", ("'paid'", "'open'", "'paid'", "'void'"), ("'late'", "'zz'", "'open'", "'a'")),
        "placed": Column("INT", ("1", "2", "3", "4"), ("9", "0", "1", "5")),
        "open": Column("BOOLEAN", ("true", "false", "true", "false"), ("false", "false", "true", "true")),
        "items": Column(
            "ARRAY<STRING>",
            ("array('a', 'b')", "array('b', 'c', 'paid')", "array('c')", "array('d', 'a')"),
            ("array('z')", "array()", "array('a', 'a', 'b')", "array('q', 'r', 'paid')"),
        ),
    },
    "refunds": {
        "order_id": Column("BIGINT", ("1", "2", "2", "7"), ("3", "1", "4", "2")),
        "refund": Column("DOUBLE", ("5", "3", "1", "4"), ("0.5", "80", "9", "2")),
        "reason": Column("STRING", ("'paid'", "'late'", "'late'", "'open'"), ("'void'", "'paid'", "'x'", "'y'")),
    },
}

Change = Callable[[Column], tuple[str, ...]]

CHANGES: Final[tuple[Change, ...]] = (
    lambda column: column.others,
    lambda column: column.values[:1] * len(column.values),
    lambda column: ("NULL",) * len(column.values),
    lambda column: (column.values[0], column.others[1], *column.values[2:]),
)

Columns = Collection[tuple[str, str]]
"""Columns of the tables, each with its table's name."""


def create_tables(session: SparkSession, change: Change | None = None, unchanged: Columns = ()) -> None:
    """Create the tables as views of literals; all columns are changed except for `unchanged`."""
    for table, columns in TABLES.items():
        cells = [
            [
                f"CAST({value} AS {column.kind})"
                for value in (column.values if change is None or (table, name) in unchanged else change(column))
            ]
            for name, column in columns.items()
        ]
        rows = ", ".join(f"({', '.join(row)})" for row in zip(*cells, strict=True))
        values = f"VALUES {rows} AS t({', '.join(columns)})"
        session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table} AS SELECT * FROM {values}")  # noqa: S608  (our own)


def lineage_of(frame: DataFrame) -> PlanLineage[str]:
    """The lineage of a query of the views."""

    def table_of(leaf: Leaf) -> str | None:
        return next((view[-1] for view in leaf.views if view[-1] in TABLES), None)

    return column_lineage(parse_plan(frame._jdf.queryExecution().analyzed().toJSON()), table_of)


def columns_by_inputs(lineage: PlanLineage[str]) -> Iterator[tuple[Columns, list[str]]]:
    """The output's columns, grouped by the columns that they depend on according to the lineage, in whatever way."""
    groups: defaultdict[frozenset[tuple[str, str]], list[str]] = defaultdict(list)
    for name, inputs in lineage.columns.items():
        groups[frozenset((source.dataset, source.column) for source in (*inputs, *lineage.dataset))].append(name)
    yield from groups.items()


def values_of(frame: DataFrame, columns: Collection[str]) -> dict[str, Counter[str]]:
    """How often each value, as JSON, is in a column."""
    rows = [json.loads(row) for row in frame._jdf.toJSON().collectAsList()]
    return {name: Counter(json.dumps(row.get(name)) for row in rows) for name in columns}
