"""What a plan's JSON says about each relation, and how the JVM names the same relation."""

import sqlite3
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater.graph.sparkplan.leaves import Leaf, leaves
from headwater.graph.sparkplan.plan import parse_plan
from tests.component.sparkplan.sparkplan_jvm import jvm_names

pytestmark = pytest.mark.spark


def leaves_of(frame: DataFrame) -> tuple[Leaf, ...]:
    return leaves(parse_plan(frame._jdf.queryExecution().analyzed().toJSON()))


def test_a_leaf_of_a_catalogs_table_has_its_name(lake: SparkSession) -> None:
    (leaf,) = leaves_of(lake.sql("SELECT reason FROM lineage.shop.refunds AS r"))

    assert leaf.kind == "DataSourceV2Relation"
    assert leaf.table == ("lineage", "shop", "refunds")
    assert leaf.aliases == (("lineage", "shop", "refunds"), ("r",))
    assert [column.name for column in leaf.columns] == ["order_id", "amount", "reason"]
    assert not leaf.streaming


def test_a_leaf_of_files_read_through_a_view_has_the_views_name(lake: SparkSession) -> None:
    (leaf,) = leaves_of(lake.sql("SELECT name FROM customers"))

    assert leaf.kind == "LogicalRelation"
    assert leaf.table is None
    assert leaf.views == (("customers",),)


def test_views_are_listed_nearest_first(lake: SparkSession) -> None:
    lake.sql("CREATE OR REPLACE TEMPORARY VIEW parisians AS SELECT * FROM customers WHERE city = 'Paris'")

    (leaf,) = leaves_of(lake.sql("SELECT name FROM parisians"))

    assert leaf.views == (("customers",), ("parisians",))


def test_a_leaf_of_a_stored_table_of_files_has_its_name(lake: SparkSession, tmp_path: Path) -> None:
    lake.sql(f"CREATE TABLE default.stored (id BIGINT) USING parquet LOCATION '{tmp_path}'")

    (leaf,) = leaves_of(lake.table("default.stored"))

    lake.sql("DROP TABLE default.stored")
    assert leaf.table == ("spark_catalog", "default", "stored")


def test_a_self_join_has_two_leaves_with_different_keys(lake: SparkSession) -> None:
    frame = lake.sql("SELECT a.name FROM customers a JOIN customers b ON a.city = b.name")

    leaves_found = leaves_of(frame)

    names = jvm_names(frame._jdf.queryExecution().analyzed())
    assert [names[leaf.key] for leaf in leaves_found if leaf.key is not None] == ["customers", "customers"]
    assert len({leaf.key for leaf in leaves_found}) == 2


def test_leaves_in_subqueries_are_listed_and_named(lake: SparkSession) -> None:
    frame = lake.sql("SELECT amount FROM orders WHERE order_id IN (SELECT order_id FROM refunds)")

    leaves_found = leaves_of(frame)

    names = jvm_names(frame._jdf.queryExecution().analyzed())
    assert [names[leaf.key] for leaf in leaves_found if leaf.key is not None] == ["orders", "refunds"]
    assert [leaf.index for leaf in leaves_found] == [0, 1]


def test_a_database_table_is_a_leaf_whose_options_the_jvm_knows(lake: SparkSession, tmp_path: Path) -> None:
    database = tmp_path / "shop.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE stock (sku TEXT, n INTEGER)")
    connection.close()
    options = {"url": f"jdbc:sqlite:{database}", "dbtable": "stock", "driver": "org.sqlite.JDBC"}
    frame = lake.read.format("jdbc").options(**options).load()

    (leaf,) = leaves_of(frame)

    relation = frame._jdf.queryExecution().analyzed().collectLeaves().head().relation()
    assert (leaf.kind, leaf.key) == ("LogicalRelation", _first_id(frame))
    assert relation.jdbcOptions().tableOrQuery() == "stock"


def test_leaves_of_streams_are_marked_as_streaming(lake: SparkSession, tmp_path: Path) -> None:
    files = lake.readStream.schema("id BIGINT").csv(str(tmp_path))
    table = lake.readStream.table("lineage.shop.refunds")

    (from_files,), (from_table,) = leaves_of(files), leaves_of(table)

    assert (from_files.kind, from_files.source, from_files.streaming) == (
        "StreamingRelation",
        f"FileSource[{tmp_path}]",
        True,
    )
    assert (from_table.table, from_table.streaming) == (("lineage", "shop", "refunds"), True)


def test_rows_of_literals_are_leaves_without_their_values(lake: SparkSession) -> None:
    frame = lake.sql("SELECT k FROM VALUES (1, 'hush') AS t(k, v)")

    (leaf,) = leaves_of(frame)

    assert leaf.kind == "LocalRelation"
    assert "hush" not in frame._jdf.queryExecution().analyzed().toJSON()


def _first_id(frame: DataFrame) -> int:
    return int(frame._jdf.queryExecution().analyzed().output().head().exprId().id())
