"""The lineage misses no input: an output column keeps its values when all columns change that are not among its
reported inputs.
"""

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.component.sparkplan.perturbed import (
    CHANGES,
    columns_by_inputs,
    create_tables,
    lineage_of,
    values_of,
)

pytestmark = pytest.mark.spark

QUERIES = """
SELECT order_id, CASE WHEN open THEN status WHEN amount > 5 THEN items[0] END AS c, coalesce(status, items[0]) AS d FROM orders
SELECT order_id, if(amount > 4, 'big', 'small') AS size, nullif(status, 'paid') AS n FROM orders WHERE open OR placed > 1
SELECT status, sum(amount) AS s, count(*) AS n, max_by(order_id, placed) AS last FROM orders GROUP BY status HAVING min(customer_id) < 30
SELECT sum(amount) FILTER (WHERE open) AS s, count_if(placed > 2) AS n, listagg(status) WITHIN GROUP (ORDER BY placed) AS l FROM orders
SELECT status, grouping(status) AS g, sum(amount) AS s FROM orders GROUP BY CUBE (status, open) HAVING count(*) > 0
SELECT * FROM (SELECT customer_id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('paid' AS p, 'open' AS o))
SELECT order_id, k, v FROM (SELECT order_id, amount, placed * 1D AS placed FROM orders) UNPIVOT (v FOR k IN (amount, placed))
SELECT order_id, lag(status, 1, items[0]) OVER (PARTITION BY customer_id ORDER BY placed) AS b FROM orders
SELECT order_id FROM (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY placed) AS n FROM orders) WHERE n = 1
SELECT order_id, sum(amount) OVER (ORDER BY placed RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM orders
SELECT order_id, status FROM orders ORDER BY placed, amount LIMIT 2
SELECT o.status, r.reason FROM orders o JOIN refunds r ON o.order_id = r.order_id AND o.amount >= r.refund
SELECT order_id, o.status, r.reason FROM orders o FULL JOIN refunds r USING (order_id)
SELECT status FROM orders o LEFT ANTI JOIN refunds r ON o.order_id = r.order_id AND r.refund > 2
SELECT o.order_id, r.x FROM orders o, LATERAL (SELECT max(reason) AS x FROM refunds r WHERE r.order_id = o.order_id AND refund > placed) r
SELECT order_id, (SELECT count(*) FROM refunds r WHERE r.refund < o.amount) AS n FROM orders o
SELECT status FROM orders o WHERE order_id IN (SELECT order_id FROM refunds WHERE refund > 2) OR NOT EXISTS (SELECT 1 FROM refunds WHERE reason = status)
SELECT status FROM orders GROUP BY status HAVING EXISTS (SELECT 1 FROM refunds WHERE refund >= max(amount))
SELECT status AS x FROM orders INTERSECT SELECT reason FROM refunds WHERE refund > 2
SELECT status, order_id FROM orders EXCEPT ALL SELECT reason, order_id FROM refunds
WITH c AS (SELECT customer_id, sum(amount) AS s FROM orders GROUP BY 1) SELECT a.s, b.customer_id AS c FROM c a JOIN c b ON a.s < b.s
WITH RECURSIVE r(id, n) AS (SELECT order_id, 1 FROM orders WHERE open UNION ALL SELECT r.id + CAST(refund AS INT), n + 1 FROM r JOIN refunds ON order_id = r.id WHERE n < 3) SELECT id, n FROM r
SELECT order_id, item FROM orders LATERAL VIEW explode(items) AS item
SELECT order_id FROM orders LATERAL VIEW OUTER posexplode(items) AS at, item
SELECT o.order_id, e.col FROM orders o, LATERAL explode(o.items) e
SELECT order_id FROM orders o WHERE EXISTS (SELECT 1 FROM explode(o.items))
SELECT order_id, x FROM orders LATERAL VIEW explode(array(amount, placed)) AS x
SELECT label, value FROM (SELECT stack(2, 'a', amount, status, refund) AS (label, value) FROM orders JOIN refunds USING (order_id))
SELECT inline(array(struct(amount AS a, status AS b), struct(placed AS a, 'x' AS b))) FROM orders
SELECT transform(items, i -> concat(i, status)) AS t, filter(items, i -> i > status) AS f, exists(items, i -> i = 'a') AS e FROM orders
SELECT l[0].status AS first, l.status AS each FROM (SELECT sort_array(collect_list(struct(placed, status))) AS l FROM orders)
SELECT size(l.status) AS n FROM (SELECT collect_set(struct(customer_id, status)) AS l FROM orders)
SELECT size(array_distinct(l).status) AS n FROM (SELECT collect_list(struct(customer_id, status)) AS l FROM orders)
SELECT m.status AS s, m.amount AS a FROM (SELECT max(struct(amount, status)) AS m FROM orders)
SELECT s.* FROM (SELECT struct(amount AS a, placed AS b, status AS c) AS s FROM orders)
SELECT s.B AS x, l.b AS y FROM (SELECT struct(amount AS a, placed AS b) AS s, array(struct(status AS a, order_id AS b)) AS l FROM orders)
SELECT s.b FROM (SELECT struct(amount AS a, status AS b) AS s FROM orders UNION ALL SELECT struct(refund AS x, reason AS y) FROM refunds)
FROM orders |> WHERE open |> EXTEND amount * 2 AS twice |> SET twice = twice + order_id |> AGGREGATE max(twice) AS m GROUP BY status
"""  # noqa: E501


def newest_of_each(session: SparkSession) -> DataFrame:
    newest = F.max_by(F.struct("status", "amount"), "placed")
    return session.table("orders").groupBy("customer_id").agg(newest.alias("newest")).select("newest.*")


def a_struct_with_another_field(session: SparkSession) -> DataFrame:
    structs = session.table("orders").select(F.struct("amount", "status").alias("made"), "order_id")
    return structs.select(F.col("made").withField("amount", F.col("order_id")).alias("made")).select("made.*")


def exploded_after_a_filter(session: SparkSession) -> DataFrame:
    longer = F.filter("items", lambda item: F.col("status") > item)
    return session.table("orders").select("order_id", F.explode(longer).alias("item"))


def filled_and_without_copies(session: SparkSession) -> DataFrame:
    known = session.table("orders").fillna({"status": "?"}).dropna(subset=["amount"])
    return known.select("status", "open").dropDuplicates()


def set_of_groups_that_is_repeated(session: SparkSession) -> DataFrame:
    sets = session.table("orders").groupingSets([["status"], ["open"], ["status"]], "status", "open")
    return sets.agg(F.sum("amount").alias("amount"))


FRAMES = [
    newest_of_each,
    a_struct_with_another_field,
    exploded_after_a_filter,
    filled_and_without_copies,
    set_of_groups_that_is_repeated,
]


@pytest.fixture(scope="module")
def shop(spark: SparkSession) -> SparkSession:
    """A session without code generation, since there are few rows, and in which an element out of range is NULL."""
    session = spark.newSession()
    for key, value in {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }.items():
        session.conf.set(key, value)
    return session


def assert_lineage_names_all_inputs(session: SparkSession, query: Callable[[SparkSession], DataFrame]) -> None:
    create_tables(session)
    lineage = lineage_of(query(session))
    before = values_of(query(session), lineage.columns)

    assert lineage.gaps == ()
    assert all(before.values())
    for inputs, columns in columns_by_inputs(lineage):
        for change in CHANGES:
            create_tables(session, change, unchanged=inputs)
            after = values_of(query(session), columns)
            assert after == {name: before[name] for name in columns}, f"more than {sorted(inputs)} matters"


@pytest.mark.parametrize("query", QUERIES.strip().splitlines())
def test_a_querys_columns_depend_only_on_their_reported_inputs(shop: SparkSession, query: str) -> None:
    assert_lineage_names_all_inputs(shop, lambda session: session.sql(query))


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frames_columns_depend_only_on_their_reported_inputs(
    shop: SparkSession, frame: Callable[[SparkSession], DataFrame]
) -> None:
    assert_lineage_names_all_inputs(shop, frame)
