"""Commands that write, as the analyser leaves them: the outputs are the target's columns."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.component.sparkplan.sparkplan_jvm import lineage_of_command
from tests.support.lineage_text import expected

pytestmark = pytest.mark.spark


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def target(lake: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """A table `lineage.shop.target`, once for each of Iceberg's two ways to change rows."""
    name = "lineage.shop.target"
    modes = ", ".join(f"'write.{change}.mode' = '{request.param}'" for change in ("delete", "update", "merge"))
    lake.sql(
        f"CREATE TABLE {name} (id BIGINT NOT NULL, total DOUBLE, note STRING) USING iceberg TBLPROPERTIES ({modes})"
    )
    yield name
    lake.sql(f"DROP TABLE {name}")


APPENDS = [
    "INSERT INTO lineage.shop.target SELECT order_id, customer_id, upper(status) FROM orders WHERE amount > 1",
    """INSERT INTO lineage.shop.target (note, total, id)
       SELECT upper(status), customer_id, order_id FROM orders WHERE amount > 1""",
    """INSERT INTO lineage.shop.target BY NAME
       SELECT upper(status) AS note, order_id AS id, customer_id AS total FROM orders WHERE amount > 1""",
    "INSERT OVERWRITE lineage.shop.target SELECT order_id, customer_id, upper(status) FROM orders WHERE amount > 1",
]


@pytest.mark.parametrize("command", APPENDS)
def test_an_insert_matches_the_tables_columns_by_position_or_name(
    lake: SparkSession, target: str, command: str
) -> None:
    lineage = lineage_of_command(lake.table(target), command)

    columns = {
        "id": "orders.order_id",
        "total": "orders.customer_id TRANSFORMATION",
        "note": "orders.status TRANSFORMATION",
    }
    assert lineage == expected(columns, "orders.amount FILTER")


def test_columns_that_an_insert_leaves_out_have_no_inputs(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(lake.table(target), "INSERT INTO lineage.shop.target (id) SELECT order_id FROM orders")

    assert lineage == expected({"id": "orders.order_id", "total": "", "note": ""})


@pytest.mark.parametrize(
    "command",
    [
        "CREATE TABLE lineage.shop.made USING iceberg AS SELECT order_id AS id, amount * 2 AS twice FROM orders",
        "CREATE OR REPLACE TABLE lineage.shop.made AS SELECT order_id AS id, amount * 2 AS twice FROM orders",
        "CREATE OR REPLACE TEMPORARY VIEW made AS SELECT order_id AS id, amount * 2 AS twice FROM orders",
        "CREATE TABLE default.made USING parquet AS SELECT order_id AS id, amount * 2 AS twice FROM orders",
        "INSERT OVERWRITE DIRECTORY '/nowhere' USING csv SELECT order_id AS id, amount * 2 AS twice FROM orders",
        "CACHE TABLE made AS SELECT order_id AS id, amount * 2 AS twice FROM orders",
    ],
    ids=lambda command: " ".join(command.split()[:3]).lower(),
)
def test_a_created_target_has_the_columns_of_its_query(lake: SparkSession, command: str) -> None:
    lineage = lineage_of_command(lake.table("orders"), command)

    assert lineage == expected({"id": "orders.order_id", "twice": "orders.amount TRANSFORMATION"})


def test_an_insert_into_files(lake: SparkSession, tmp_path: Path) -> None:
    lake.sql(f"CREATE TABLE default.filed (id BIGINT, note STRING) USING parquet LOCATION '{tmp_path}'")

    lineage = lineage_of_command(lake.table("orders"), "INSERT INTO default.filed SELECT order_id, status FROM orders")

    lake.sql("DROP TABLE default.filed")
    assert lineage == expected({"id": "orders.order_id", "note": "orders.status"})


def test_a_merge_makes_each_column_from_its_assigned_values(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(
        lake.table(target),
        """MERGE INTO lineage.shop.target t USING (SELECT order_id, amount, reason FROM refunds WHERE amount > 0) r
            ON t.id = r.order_id
            WHEN MATCHED AND r.reason = 'void' THEN DELETE
            WHEN MATCHED AND t.total < r.amount THEN UPDATE SET total = r.amount
            WHEN NOT MATCHED AND length(r.reason) > 3
            THEN INSERT (id, total, note) VALUES (r.order_id, 0, lower(r.reason))
            WHEN NOT MATCHED BY SOURCE AND t.total > 9 THEN UPDATE SET note = concat(t.note, '!')""",
    )

    columns = {
        "id": "refunds.order_id",
        "total": "refunds.amount, refunds.amount CONDITIONAL, target.total CONDITIONAL",
        "note": "refunds.reason TRANSFORMATION, target.note TRANSFORMATION, target.total CONDITIONAL",
    }
    rows = "refunds.amount FILTER, target.id JOIN, refunds.order_id JOIN, refunds.reason FILTER"
    assert lineage == expected(columns, rows)


def test_a_merge_uses_only_the_first_clause_whose_condition_holds(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(
        lake.table(target),
        """MERGE INTO lineage.shop.target t USING refunds r ON t.id = r.order_id
            WHEN MATCHED AND r.reason = 'void' THEN UPDATE SET total = 0
            WHEN MATCHED AND t.note = 'paid' THEN UPDATE SET note = 'refunded'
            WHEN MATCHED THEN DELETE""",
    )

    note = "refunds.reason CONDITIONAL, target.note CONDITIONAL"
    rows = "target.id JOIN, refunds.order_id JOIN, refunds.reason FILTER, target.note FILTER"
    assert lineage == expected({"id": "", "total": "refunds.reason CONDITIONAL", "note": note}, rows)


def test_a_merge_of_everything(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(
        lake.table(target),
        """MERGE INTO lineage.shop.target t 
           USING (SELECT order_id AS id, amount AS total, reason AS note FROM refunds) r ON t.id = r.id
            WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""",
    )

    columns = {"id": "refunds.order_id", "total": "refunds.amount", "note": "refunds.reason"}
    assert lineage == expected(columns, "target.id JOIN, refunds.order_id JOIN")


def test_a_merge_that_only_inserts(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(
        lake.table(target),
        """MERGE INTO lineage.shop.target t USING refunds r ON t.id = r.order_id
            WHEN NOT MATCHED AND r.amount > 1 THEN INSERT (id, note) VALUES (r.order_id, 'new')""",
    )

    rows = "target.id JOIN, refunds.order_id JOIN, refunds.amount FILTER"
    assert lineage == expected({"id": "refunds.order_id", "total": "", "note": ""}, rows)


def test_an_update_changes_the_assigned_columns_only(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(
        lake.table(target),
        "UPDATE lineage.shop.target SET total = total + 1 WHERE id IN (SELECT order_id FROM refunds)",
    )

    columns = {"id": "", "total": "target.total TRANSFORMATION", "note": ""}
    assert lineage == expected(columns, "target.id FILTER, refunds.order_id FILTER")


def test_an_update_with_a_plain_condition_leaves_other_columns_alone(lake: SparkSession, target: str) -> None:
    command = "UPDATE lineage.shop.target SET total = total + 1 WHERE id = 2"

    lineage = lineage_of_command(lake.table(target), command)

    assert lineage.columns["note"] == lineage.columns["id"] == frozenset()
    assert "target.total TRANSFORMATION" in lineage.columns["total"]


def test_a_delete_only_decides_rows(lake: SparkSession, target: str) -> None:
    command = "DELETE FROM lineage.shop.target WHERE total > 3 AND id IN (SELECT order_id FROM refunds)"

    lineage = lineage_of_command(lake.table(target), command)

    rows = "target.id FILTER, target.total FILTER, refunds.order_id FILTER"
    assert lineage == expected({"id": "", "total": "", "note": ""}, rows)


def test_several_inserts_at_once_are_a_gap(lake: SparkSession, target: str) -> None:
    command = """FROM orders INSERT INTO lineage.shop.target SELECT order_id, amount, status
                  INSERT INTO lineage.shop.refunds SELECT order_id, amount, status"""

    lineage = lineage_of_command(lake.table(target), command)

    assert lineage.inputs == {"orders"}
    assert {gap.partition(":")[0] for gap in lineage.gaps} == {"Union"}


def test_a_view_with_its_own_column_names_is_a_gap_since_the_plan_lacks_them(lake: SparkSession) -> None:
    command = "CREATE TEMPORARY VIEW named (a, b) AS SELECT order_id, amount FROM orders"

    lineage = lineage_of_command(lake.table("orders"), command)

    assert lineage.inputs == {"orders"}
    assert {gap.partition(":")[0] for gap in lineage.gaps} == {"CreateViewCommand"}


def test_a_merge_of_stars_has_its_querys_inputs(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(
        lake.table(target),
        """MERGE INTO lineage.shop.target t
            USING (SELECT order_id AS id, sum(amount) AS total, max(reason) AS note FROM refunds GROUP BY order_id) r
            ON t.id = r.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""",
    )

    columns = {"id": "refunds.order_id", "total": "refunds.amount AGGREGATION", "note": "refunds.reason AGGREGATION"}
    assert lineage == expected(columns, "refunds.order_id GROUP_BY, refunds.order_id JOIN, target.id JOIN")


def test_an_update_by_a_subquery_and_by_its_own_value(lake: SparkSession, target: str) -> None:
    lineage = lineage_of_command(
        lake.table(target),
        """UPDATE lineage.shop.target SET note = upper(note),
            total = (SELECT sum(amount) FROM refunds WHERE reason = 'x')""",
    )

    columns = {
        "total": "refunds.amount AGGREGATION, refunds.reason FILTER",
        "note": "target.note TRANSFORMATION",
    }
    assert {name: lineage.columns[name] for name in columns} == expected(columns).columns
    assert lineage.gaps == frozenset()


@pytest.mark.parametrize(
    ("partition", "query", "day"),
    [
        ("(day = 'x')", "SELECT order_id, amount FROM orders", ""),
        ("(day)", "SELECT order_id, amount, status FROM orders", "orders.status"),
    ],
)
def test_overwriting_partitions_by_value_and_dynamically(
    lake: SparkSession, partition: str, query: str, day: str
) -> None:
    table = "lineage.shop.by_day"
    lake.sql(f"CREATE TABLE {table} (id BIGINT, total DOUBLE, day STRING) USING iceberg PARTITIONED BY (day)")

    lineage = lineage_of_command(lake.table(table), f"INSERT OVERWRITE {table} PARTITION {partition} {query}")

    lake.sql(f"DROP TABLE {table}")
    assert lineage == expected({"id": "orders.order_id", "total": "orders.amount", "day": day})
