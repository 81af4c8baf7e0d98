"""The queries of TPC-H and twenty of TPC-DS as INSERT … SELECT over Iceberg, compared with sqlglot's lineage.

sqlglot reads the text of a query and lists every column in the expression of an output. So the comparison is over the
columns that make a value, and those that choose it (CASE) or order it (windows). Where the two differ, a person has
read the query and decided: `tpc/settled.yaml` has the right answer, and the reason.
"""

from pathlib import Path
from typing import Any, cast

import pytest
import sqlglot
import yaml
from pyspark.sql import SparkSession
from sqlglot import exp
from sqlglot.lineage import lineage
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope

from tests.component.sparkplan.sparkplan_jvm import lineage_of_command
from tests.support.lineage_text import LineageText

pytestmark = pytest.mark.spark

HERE = Path(__file__).parent / "tpc"
TABLES: dict[str, dict[str, str]] = yaml.safe_load((HERE / "tables.yaml").read_text())
SETTLED: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "settled.yaml").read_text())
COMPARED = {"", "TRANSFORMATION", "AGGREGATION", "CONDITIONAL", "WINDOW"}

_WHOLE_NUMBERS = (
    "key",
    "_sk",
    "number",
    "_quantity",
    "_size",
    "_year",
    "_moy",
    "_qoy",
    "_seq",
    "_hour",
    "_minute",
    "qty",
)
_IDS = ("i_brand_id", "i_class_id", "i_manufact_id", "i_manager_id", "o_shippriority")
_AMOUNTS = ("price", "cost", "_amt", "_amount", "_paid", "profit", "_loss", "_tax", "_discount", "bal", "_offset")


def column_type(name: str) -> str:
    if name in ("l_quantity",) or name.endswith(_AMOUNTS):
        return "DECIMAL(12, 2)"
    if name in _IDS or name.endswith(_WHOLE_NUMBERS):
        return "INT"
    return "DATE" if name.endswith("date") else "STRING"


def queries(benchmark: str) -> dict[str, str]:
    """The text of each query, by `tpch.q1`."""
    parts = (HERE / f"{benchmark}.sql").read_text().split("\n-- q")[1:]
    return {
        f"{benchmark}.q{number}": text.strip().rstrip(";") for number, _, text in (p.partition("\n") for p in parts)
    }


QUERIES = {**queries("tpch"), **queries("tpcds")}


@pytest.fixture(scope="module")
def tables(lake: SparkSession) -> SparkSession:
    """A session with all tables of both benchmarks, empty."""
    session = lake.newSession()
    for key in ("", ".type", ".warehouse"):
        session.conf.set(f"spark.sql.catalog.lineage{key}", lake.conf.get(f"spark.sql.catalog.lineage{key}"))
    for benchmark, described in TABLES.items():
        for table, columns in described.items():
            fields = ", ".join(f"{name} {column_type(name)}" for name in columns.split())
            session.sql(f"CREATE TABLE lineage.{benchmark}.{table} ({fields}) USING iceberg")
    return session


@pytest.mark.parametrize("name", QUERIES)
def test_an_insert_of_a_benchmarks_query_has_the_columns_that_sqlglot_finds(tables: SparkSession, name: str) -> None:
    benchmark = name.partition(".")[0]

    found = inserted(tables, name)

    assert not found.gaps
    columns = {column: sorted(compared(inputs)) for column, inputs in found.columns.items()}
    assert columns == {**by_sqlglot(QUERIES[name], TABLES[benchmark]), **settled(name)}


def inserted(session: SparkSession, name: str) -> LineageText:
    """The lineage of the query, inserted into a table with its columns; analysed, not run."""
    benchmark, _, number = name.partition(".")
    session.sql(f"USE lineage.{benchmark}")
    frame = session.sql(QUERIES[name])
    session.sql(f"CREATE TABLE {number} ({frame._jdf.schema().asNullable().toDDL()}) USING iceberg")
    return lineage_of_command(frame, f"INSERT INTO {number} {QUERIES[name]}")


def compared(inputs: frozenset[str]) -> set[str]:
    split = [text.removesuffix(" masked").partition(" ") for text in inputs]
    return {column for column, _, subtype in split if subtype in COMPARED}


def by_sqlglot(query: str, described: dict[str, str]) -> dict[str, list[str]]:
    schema: dict[str, object] = {
        table: {name: column_type(name) for name in columns.split()} for table, columns in described.items()
    }
    expression = qualify(
        sqlglot.parse_one(query, dialect="spark"), schema=schema, dialect="spark", validate_qualify_columns=False
    )
    scope = build_scope(expression)
    return {
        column: sorted(source_columns(lineage(column, expression, schema=schema, scope=scope, dialect="spark")))
        for column in cast("exp.Query", expression).named_selects
    }


def source_columns(root: Any) -> set[str]:  # noqa: ANN401  (sqlglot is not typed here)
    leaves = [node for node in root.walk() if isinstance(node.source, exp.Table) and not node.downstream]
    columns = ((node.source.name, node.name.rpartition(".")[2].strip('"')) for node in leaves if node.name != "*")
    return {f"{table}.{column}" for table, column in columns}


def settled(name: str) -> dict[str, list[str]]:
    return {column: sorted(case["is"]) for column, case in SETTLED.get(name, {}).items()}
