"""Generated queries, with another implementation's lineage as the expectation.

sqlglot works on the text of a query, and Headwater on Spark's plan. Its lineage does not say how a column is used, so
the generated queries use only functions all of whose arguments go into the value.
"""

# ruff: noqa: S608  (the generated text is the test)

import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from sqlglot import exp
from sqlglot.lineage import lineage

from tests.component.sparkplan.sparkplan_jvm import lineage_of_query

pytestmark = pytest.mark.spark

TABLES = {
    "orders": ("order_id", "customer_id", "amount"),
    "refunds": ("order_id", "amount"),
    "customers": ("customer_id",),
}
SCHEMA = {table: dict.fromkeys(columns, "DOUBLE") for table, columns in TABLES.items()}


@st.composite
def queries(draw: st.DrawFn, depth: int = 3) -> str:
    """A query whose columns are numbers, called `c0`, `c1` ..."""
    shape = draw(st.sampled_from(["select", "aggregate", "union", "common"] if depth else ["select"]))
    if shape == "union":
        return f"{draw(selects(depth, width=2))} UNION ALL {draw(selects(depth, width=2))}"
    if shape == "common":
        return (
            f"WITH t AS ({draw(selects(depth, width=2))}) SELECT t.c0 + t.c1 AS c0, {draw(subqueries())} AS c1 FROM t"
        )
    if shape == "aggregate":
        source, columns = draw(sources(depth))
        key = draw(st.sampled_from(columns))
        return f"SELECT {key} AS c0, sum({draw(expressions(columns))}) AS c1 FROM {source} GROUP BY {key}"
    return draw(selects(depth))


@st.composite
def selects(draw: st.DrawFn, depth: int, width: int | None = None) -> str:
    source, columns = draw(sources(depth))
    count = width or draw(st.integers(1, 3))
    items = ", ".join(f"{draw(expressions(columns))} AS c{at}" for at in range(count))
    condition = f" WHERE {draw(st.sampled_from(columns))} > 1" if draw(st.booleans()) else ""
    return f"SELECT {items} FROM {source}{condition}"


@st.composite
def sources(draw: st.DrawFn, depth: int) -> tuple[str, list[str]]:
    """One relation or a join of two, and the names of its columns."""
    left, left_columns = draw(relations("l", depth))
    if draw(st.booleans()):
        return left, left_columns
    right, right_columns = draw(relations("r", depth))
    condition = f"{draw(st.sampled_from(left_columns))} = {draw(st.sampled_from(right_columns))}"
    return f"{left} JOIN {right} ON {condition}", [*left_columns, *right_columns]


@st.composite
def relations(draw: st.DrawFn, alias: str, depth: int) -> tuple[str, list[str]]:
    if depth and draw(st.booleans()):
        return f"({draw(selects(depth - 1, width=2))}) AS {alias}", [f"{alias}.c0", f"{alias}.c1"]
    table = draw(st.sampled_from(sorted(TABLES)))
    return f"{table} AS {alias}", [f"{alias}.{column}" for column in TABLES[table]]


def expressions(columns: list[str]) -> st.SearchStrategy[str]:
    column = st.sampled_from(columns)
    return st.one_of(
        column,
        st.just("1"),
        st.builds("{} + {}".format, column, column),
        st.builds("abs({} * 2)".format, column),
        st.builds("greatest({}, {}, 3)".format, column, column),
        st.builds("CAST({} AS STRING) || 'x'".format, column).map(lambda text: f"length({text})"),
    )


def subqueries() -> st.SearchStrategy[str]:
    return st.sampled_from(["(SELECT max(amount) FROM refunds)", "(SELECT count(*) FROM customers)", "t.c1"])


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(queries())
def test_each_column_has_the_sources_that_sqlglot_finds(lake: SparkSession, sql: str) -> None:
    found = lineage_of_query(lake.sql(sql))

    direct = {column: _tables_and_columns(inputs) for column, inputs in found.columns.items()}

    assert direct == {column: _sources_by_sqlglot(column, sql) for column in found.columns}
    assert not found.gaps


def _tables_and_columns(inputs: frozenset[str]) -> set[str]:
    return {text.partition(" ")[0] for text in inputs}


def _sources_by_sqlglot(column: str, sql: str) -> set[str]:
    root = lineage(column, sqlglot.parse_one(sql, dialect="spark"), schema=SCHEMA, dialect="spark")
    leaves = [node for node in root.walk() if isinstance(node.source, exp.Table) and not node.downstream]
    return {f"{node.source.name}.{node.name.rpartition('.')[2]}" for node in leaves if node.name != "*"}
