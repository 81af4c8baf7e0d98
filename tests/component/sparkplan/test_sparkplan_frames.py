"""Lineage of the DataFrame API, where it does what SQL does not, or in another way."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

import pandas as pd
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import udtf

from tests.component.sparkplan.sparkplan_jvm import lineage_of_query
from tests.support.lineage_text import expected

pytestmark = pytest.mark.spark


def unchanged(*columns: str) -> dict[str, str]:
    return {column: f"orders.{column}" for column in columns}


def unchanged_batches(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    return batches


def test_columns_added_replaced_renamed_and_dropped(orders: DataFrame) -> None:
    frame = (
        orders.withColumn("net", F.col("amount") - 1)
        .withColumn("net", F.col("net") * 2)
        .withColumnRenamed("net", "worth")
        .drop("items", "tags", "address")
    )

    lineage = lineage_of_query(frame)

    others = unchanged("order_id", "customer_id", "amount", "status", "placed_at")
    assert lineage == expected({**others, "worth": "orders.amount TRANSFORMATION"})


def test_a_column_replaced_two_hundred_times(orders: DataFrame) -> None:
    frame = orders.select("order_id", "amount")
    for _ in range(200):
        frame = frame.withColumn("amount", F.col("amount") + F.col("order_id"))

    lineage = lineage_of_query(frame)

    total = "orders.amount TRANSFORMATION, orders.order_id TRANSFORMATION"
    assert lineage == expected({"order_id": "orders.order_id", "amount": total})


def test_rows_dropped_as_duplicates_depend_on_the_keys_only(orders: DataFrame) -> None:
    frame = orders.select("order_id", "status").dropDuplicates(["status"])

    lineage = lineage_of_query(frame)

    assert lineage == expected(unchanged("order_id", "status"), "orders.status GROUP_BY")


def test_a_union_by_name_fills_missing_columns(orders: DataFrame, refunds: DataFrame) -> None:
    frame = orders.select("order_id", "status").unionByName(
        refunds.select("reason", "order_id"), allowMissingColumns=True
    )

    lineage = lineage_of_query(frame)

    columns = {"order_id": "orders.order_id, refunds.order_id", "status": "orders.status", "reason": "refunds.reason"}
    assert lineage == expected(columns)


def test_a_frame_joined_with_itself(orders: DataFrame) -> None:
    other = orders.select("customer_id", F.col("amount").alias("other"))

    lineage = lineage_of_query(orders.select("order_id", "customer_id").join(other, "customer_id"))

    columns = {"customer_id": "orders.customer_id", "order_id": "orders.order_id", "other": "orders.amount"}
    assert lineage == expected(columns, "orders.customer_id JOIN")


def test_a_frame_united_with_itself(orders: DataFrame) -> None:
    ids = orders.select("order_id")

    lineage = lineage_of_query(ids.union(ids).where("order_id > 1"))

    assert lineage == expected({"order_id": "orders.order_id"}, "orders.order_id FILTER")


def test_a_pivot_without_sql(orders: DataFrame) -> None:
    frame = orders.groupBy("customer_id").pivot("status", ["paid"]).agg(F.sum("amount").alias("s"), F.max("order_id"))

    lineage = lineage_of_query(frame)

    columns = {
        "customer_id": "orders.customer_id",
        "paid_s": "orders.amount AGGREGATION, orders.status CONDITIONAL",
        "paid_max(order_id)": "orders.order_id AGGREGATION, orders.status CONDITIONAL",
    }
    # Spark first groups by both, and then distributes the groups to columns.
    assert lineage == expected(columns, "orders.customer_id GROUP_BY, orders.status GROUP_BY")


def test_observed_metrics_are_not_lineage(orders: DataFrame) -> None:
    frame = orders.observe("counters", F.count("*").alias("n"), F.max("amount").alias("top")).select("order_id")

    assert lineage_of_query(frame) == expected(unchanged("order_id"))


def test_partitions_samples_hints_and_watermarks_are_not_lineage(orders: DataFrame) -> None:
    frame = (
        orders.select("order_id", "status", "placed_at")
        .repartition(3, "status")
        .sortWithinPartitions("order_id")
        .sample(0.5)
        .coalesce(1)
        .hint("broadcast")
        .withWatermark("placed_at", "1 minute")
        .limit(4)
    )

    lineage = lineage_of_query(frame)

    assert lineage == expected(unchanged("order_id", "status", "placed_at"), "orders.order_id SORT")


def test_filled_nulls(refunds: DataFrame) -> None:
    lineage = lineage_of_query(refunds.na.fill({"reason": "none"}))

    reason = "refunds.reason CONDITIONAL, refunds.reason TRANSFORMATION"
    assert lineage == expected({"order_id": "refunds.order_id", "amount": "refunds.amount", "reason": reason})


def test_a_python_function_transforms_its_arguments(orders: DataFrame) -> None:
    joined = F.udf(lambda status, order: f"{status} {order}", "string")

    lineage = lineage_of_query(orders.select(joined("status", F.col("order_id") + 1).alias("label")))

    assert lineage == expected({"label": "orders.status TRANSFORMATION, orders.order_id TRANSFORMATION"})


def test_a_python_aggregate_aggregates_its_argument(orders: DataFrame) -> None:
    @F.pandas_udf("double")  # type: ignore[untyped-decorator]
    def total(amounts: pd.Series) -> float:
        return float(amounts.sum())

    lineage = lineage_of_query(orders.groupBy("status").agg(total("amount").alias("total")))

    assert lineage == expected(
        {"status": "orders.status", "total": "orders.amount AGGREGATION"}, "orders.status GROUP_BY"
    )


def test_a_python_function_over_batches_is_a_gap(orders: DataFrame) -> None:
    batches = orders.where("amount > 1").select("order_id", "status")

    lineage = lineage_of_query(batches.mapInPandas(unchanged_batches, "id BIGINT, note STRING"))

    gap = ("MapInPandas: id, note",)
    assert lineage == expected({"id": "", "note": ""}, "orders.amount FILTER", "orders", gap)


def test_a_gap_hides_only_the_columns_that_pass_through_it(orders: DataFrame, refunds: DataFrame) -> None:
    mapped = refunds.select("order_id", "reason").mapInPandas(unchanged_batches, "order_id BIGINT, reason STRING")

    frame = orders.join(mapped, "order_id").select("amount", "reason", F.upper("status").alias("status"))
    lineage = lineage_of_query(frame)

    columns = {"amount": "orders.amount", "reason": "", "status": "orders.status TRANSFORMATION"}
    gap = ("MapInPandas: reason",)
    assert lineage == expected(columns, "orders.order_id JOIN", "orders, refunds", gap)


def test_groups_passed_to_python_are_a_gap(orders: DataFrame) -> None:
    frame = orders.groupBy("status").applyInPandas(lambda group: group, "status STRING, amount DOUBLE")

    lineage = lineage_of_query(frame)

    assert lineage.gaps == {"FlatMapGroupsInPandas: amount, status"}
    assert lineage.inputs == {"orders"}


def test_a_python_table_function_reads_every_column_of_its_table(lake: SparkSession) -> None:
    class Echo:
        def eval(self, row: Row) -> Iterator[tuple[int]]:
            yield (row["order_id"],)

    lake.udtf.register("echo", udtf(Echo, returnType="id BIGINT"))

    lineage = lineage_of_query(lake.sql("SELECT id FROM echo(TABLE(refunds))"))

    row = "refunds.order_id TRANSFORMATION, refunds.amount TRANSFORMATION, refunds.reason TRANSFORMATION"
    rows = "refunds.order_id JOIN, refunds.amount JOIN, refunds.reason JOIN"
    assert lineage == expected({"id": row}, rows)


def test_a_table_function_in_sql_has_the_lineage_of_its_query(lake: SparkSession) -> None:
    # Iceberg's parser refuses parameters and columns.
    lake.sql("CREATE TEMPORARY FUNCTION reasons() RETURNS TABLE RETURN SELECT reason FROM refunds WHERE amount > 1")

    lineage = lineage_of_query(lake.sql("SELECT upper(reason) AS reason FROM reasons()"))

    lake.sql("DROP TEMPORARY FUNCTION reasons")
    assert lineage == expected({"reason": "refunds.reason TRANSFORMATION"}, "refunds.amount FILTER")


def test_a_session_variable_is_a_gap_once_it_is_set_and_a_literal_before(
    lake: SparkSession,
) -> None:
    lake.sql("DECLARE VARIABLE least DOUBLE DEFAULT 5")
    lake.sql("DECLARE VARIABLE since DATE DEFAULT DATE '2024-01-01'")
    lake.sql("DECLARE VARIABLE most DOUBLE")
    query = "SELECT amount + most AS more, since FROM refunds WHERE amount > least"
    columns, rows = {"more": "refunds.amount TRANSFORMATION", "since": ""}, "refunds.amount FILTER"

    before = lineage_of_query(lake.sql(query))
    lake.sql("SET VAR most = (SELECT max(order_id) * 1D + 1 FROM VALUES (1) AS t (order_id))")
    after = lineage_of_query(lake.sql(query))

    assert before == expected(columns, rows)
    assert after == expected(columns, rows, gaps=("VariableReference: more",))


def test_literals_of_every_kind_have_no_inputs(orders: DataFrame) -> None:
    values = [
        1.5,
        float("nan"),
        Decimal("1.0"),
        b"\x00",
        date(2020, 1, 1),
        timedelta(days=1),
        [1, 2],
        "\u0000\U0001f600",
        None,
    ]
    frame = orders.select(*(F.lit(value).alias(f"l{at}") for at, value in enumerate(values)), F.create_map().alias("m"))

    lineage = lineage_of_query(frame)

    assert lineage == expected(dict.fromkeys([*(f"l{at}" for at in range(len(values))), "m"], ""), inputs="orders")


def test_a_melted_frame_keeps_its_ids_and_has_a_gap_for_the_rest(refunds: DataFrame) -> None:
    lineage = lineage_of_query(refunds.melt(["order_id"], ["amount"], "name", "value"))

    columns = {"order_id": "refunds.order_id", "name": "", "value": ""}
    assert lineage == expected(columns, gaps=("Expand: name, value",))


def test_a_subquery_without_sql(orders: DataFrame, refunds: DataFrame) -> None:
    refunded = refunds.where(F.col("refunds.order_id") == F.col("orders.order_id").outer())

    lineage = lineage_of_query(orders.alias("orders").where(refunded.alias("refunds").exists()).select("amount"))

    assert lineage == expected({"amount": "orders.amount"}, "orders.order_id FILTER, refunds.order_id FILTER")


def test_rows_created_in_python_are_not_a_dataset(lake: SparkSession, orders: DataFrame) -> None:
    labels = lake.createDataFrame([("paid", "done")], "status STRING, label STRING")

    lineage = lineage_of_query(orders.join(labels, "status").select("order_id", "label"))

    columns = {"order_id": "orders.order_id", "label": ""}
    assert lineage == expected(columns, "orders.status JOIN", "orders")


def test_a_cached_frame_has_the_lineage_of_its_plan(orders: DataFrame) -> None:
    cached = orders.select("order_id", F.upper("status").alias("status")).cache()

    lineage = lineage_of_query(cached.select("status"))

    cached.unpersist()
    assert lineage == expected({"status": "orders.status TRANSFORMATION"})


def test_a_stream_has_the_lineage_of_its_batch(lake: SparkSession) -> None:
    stream = lake.readStream.table("lineage.shop.orders").withWatermark("placed_at", "1 minute")

    lineage = lineage_of_query(stream.dropDuplicatesWithinWatermark(["order_id"]).select("order_id", "amount"))

    assert lineage == expected(unchanged("order_id", "amount"), "orders.order_id GROUP_BY")


def test_nearest_rows_joined_as_of(lake: SparkSession, orders: DataFrame, refunds: DataFrame) -> None:
    joined = orders._joinAsOf(
        other=refunds,
        leftAsOfColumn=orders.amount,
        rightAsOfColumn=refunds.amount,
        on="order_id",
        how="left",
        direction="backward",
    )

    lineage = lineage_of_query(joined.select(orders.status, refunds.reason))

    columns = {"status": "orders.status", "reason": "refunds.reason"}
    rows = "orders.amount JOIN, refunds.amount JOIN, orders.order_id JOIN, refunds.order_id JOIN"
    assert lineage == expected(columns, rows)


def test_a_view_over_a_view(lake: SparkSession) -> None:
    lake.sql("SELECT order_id, amount * 2 AS twice FROM orders WHERE status = 'paid'").createOrReplaceTempView("paid")
    lake.sql("CREATE OR REPLACE TEMPORARY VIEW large (id, much) AS SELECT order_id, twice FROM paid WHERE twice > 10")

    lineage = lineage_of_query(lake.sql("SELECT much FROM large"))

    rows = "orders.status FILTER, orders.amount FILTER"
    assert lineage == expected({"much": "orders.amount TRANSFORMATION"}, rows)
