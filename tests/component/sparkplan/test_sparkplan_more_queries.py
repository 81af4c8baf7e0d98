"""More queries, written by hand like their lineage: structs that are built and unpacked, and rarer syntax."""

import pytest
from pyspark.sql import SparkSession

from tests.component.sparkplan.sparkplan_jvm import Case, lineage_of_query
from tests.support.lineage_text import expected

pytestmark = pytest.mark.spark

STRUCTS = [
    Case(
        "a field of a struct has the lineage of the expression it was built from",
        """SELECT s.amount AS a, s.t.x AS x
           FROM (SELECT struct(amount, struct(status AS x, order_id) AS t) AS s FROM orders)""",
        {"a": "orders.amount", "x": "orders.status"},
    ),
    Case(
        "the newest row of each group",
        """SELECT customer_id, n.* FROM
           (SELECT customer_id, max_by(struct(amount, status), placed_at) AS n FROM orders GROUP BY customer_id)""",
        {
            "customer_id": "orders.customer_id",
            "amount": "orders.amount AGGREGATION, orders.placed_at SORT",
            "status": "orders.status AGGREGATION, orders.placed_at SORT",
        },
        "orders.customer_id GROUP_BY",
    ),
    Case(
        "the greatest struct: each field is also chosen by the other fields",
        "SELECT m.amount AS a, m.p AS p FROM (SELECT max(struct(placed_at AS p, amount)) AS m FROM orders)",
        {
            "a": "orders.amount AGGREGATION, orders.placed_at SORT",
            "p": "orders.placed_at AGGREGATION, orders.amount SORT",
        },
    ),
    Case(
        "structs in arrays, by element, by field, and exploded",
        """SELECT l[0].amount AS a, element_at(l, 1).status AS b, l.amount AS c, x.order_id AS d, p FROM
           (SELECT sort_array(collect_list(struct(placed_at, amount, status, order_id))) AS l FROM orders)
           LATERAL VIEW posexplode(l) AS p, x""",
        {
            "a": "orders.amount AGGREGATION, orders.placed_at SORT, orders.status SORT, orders.order_id SORT",
            "b": "orders.status AGGREGATION, orders.placed_at SORT, orders.amount SORT, orders.order_id SORT",
            "c": "orders.amount AGGREGATION, orders.placed_at SORT, orders.status SORT, orders.order_id SORT",
            "d": "orders.order_id AGGREGATION, orders.placed_at SORT, orders.amount SORT, orders.status SORT",
            "p": "orders.placed_at AGGREGATION, orders.amount AGGREGATION, orders.status AGGREGATION, "
            "orders.order_id AGGREGATION",
        },
        "orders.placed_at JOIN, orders.amount JOIN, orders.status JOIN, orders.order_id JOIN",
    ),
    Case(
        "distinct structs: each field also depends on the other fields",
        "SELECT l.status AS a FROM (SELECT collect_set(struct(status, amount)) AS l FROM orders)",
        {"a": "orders.status AGGREGATION, orders.amount GROUP_BY"},
    ),
    Case(
        "fields of the same name, and a name in another case",
        """SELECT s.*, t.X AS z FROM
           (SELECT struct(amount AS x, status AS y, order_id AS y) AS s, struct(status AS x, amount AS y) AS t
            FROM orders)""",
        {"x": "orders.amount", "y": "orders.status, orders.order_id", "z": "orders.status"},
    ),
    Case(
        "inline unpacks a struct into its fields",
        """SELECT x, y FROM orders LATERAL VIEW
           inline(array(struct(amount AS a, status AS b), struct(order_id * 2D AS a, upper(status) AS b))) AS x, y""",
        {
            "x": "orders.amount TRANSFORMATION, orders.order_id TRANSFORMATION",
            "y": "orders.status TRANSFORMATION",
        },
    ),
    Case(
        "the first struct over a window",
        """SELECT f.amount AS a FROM (
             SELECT first(struct(amount, status)) OVER (PARTITION BY customer_id ORDER BY placed_at) AS f
             FROM orders)""",
        {"a": "orders.amount AGGREGATION, orders.customer_id WINDOW, orders.placed_at WINDOW"},
    ),
    Case(
        "a struct that was converted has no fields",
        "SELECT from_json(to_json(struct(amount AS x, status AS y)), 'x DOUBLE').x AS x FROM orders",
        {"x": "orders.amount TRANSFORMATION, orders.status TRANSFORMATION"},
    ),
]

MORE = [
    Case(
        "higher-order functions use their arguments and what they capture",
        """SELECT zip_with(items, items, (a, b) -> concat(a, b, status)) AS z, exists(items, i -> i = status) AS e,
                  map_filter(tags, (k, v) -> v > status) AS m, array_sort(items, (a, b) -> length(a) - length(b)) AS s,
                  reduce(items, amount, (acc, i) -> acc + length(i), acc -> acc * order_id) AS r
           FROM orders""",
        {
            "z": "orders.items TRANSFORMATION, orders.status TRANSFORMATION",
            "e": "orders.items TRANSFORMATION, orders.status TRANSFORMATION",
            "m": "orders.tags TRANSFORMATION, orders.status TRANSFORMATION",
            "s": "orders.items TRANSFORMATION",
            "r": "orders.items TRANSFORMATION, orders.amount TRANSFORMATION, orders.order_id TRANSFORMATION",
        },
    ),
    Case(
        "casts and parsed texts",
        """SELECT try_cast(status AS INT) AS a, amount::string AS b, cast(order_id AS BIGINT) AS c,
                  to_json(address) AS d, variant_get(parse_json(status), '$.a', 'int') AS e,
                  get_json_object(status, '$.a') AS f
           FROM orders""",
        {
            "a": "orders.status TRANSFORMATION",
            "b": "orders.amount TRANSFORMATION",
            "c": "orders.order_id",
            "d": "orders.address TRANSFORMATION",
            "e": "orders.status TRANSFORMATION",
            "f": "orders.status TRANSFORMATION",
        },
    ),
    Case(
        "grouping sets with their id",
        """SELECT status, customer_id, grouping_id() AS g, count_if(amount > 3) AS n FROM orders
           GROUP BY GROUPING SETS ((status, customer_id), (status)) HAVING sum(order_id) > 1""",
        {
            "status": "orders.status",
            "customer_id": "orders.customer_id",
            "g": "",
            "n": "orders.amount AGGREGATION masked",
        },
        "orders.status GROUP_BY, orders.customer_id GROUP_BY, orders.order_id FILTER",
    ),
    Case(
        "aggregates of many kinds",
        """SELECT mode(amount) AS m, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS p,
                  any_value(customer_id) AS v, regr_slope(amount, order_id) AS r,
                  approx_count_distinct(customer_id) AS a, array_agg(tags['a']) AS t
           FROM orders""",
        {
            "m": "orders.amount AGGREGATION",
            "p": "orders.amount AGGREGATION",
            "v": "orders.customer_id AGGREGATION",
            "r": "orders.amount AGGREGATION, orders.order_id AGGREGATION",
            "a": "orders.customer_id AGGREGATION masked",
            "t": "orders.tags AGGREGATION",
        },
    ),
    Case(
        "EXISTS next to OR",
        """SELECT order_id FROM orders o WHERE status = 'x'
           OR EXISTS (SELECT 1 FROM refunds r WHERE r.order_id = o.order_id AND r.amount > o.amount)""",
        {"order_id": "orders.order_id"},
        "orders.status FILTER, refunds.order_id FILTER, orders.order_id FILTER, refunds.amount FILTER, "
        "orders.amount FILTER",
    ),
    Case(
        "a scalar subquery with a subquery in it",
        """SELECT amount - (SELECT avg(r.amount) FROM refunds r
             WHERE r.order_id = o.order_id AND r.reason IN (SELECT city FROM customers)) AS d FROM orders o""",
        {
            "d": "orders.amount TRANSFORMATION, refunds.amount AGGREGATION, refunds.order_id FILTER, "
            "orders.order_id FILTER, refunds.reason FILTER, customers.city FILTER"
        },
    ),
    Case(
        "a lateral query over another",
        """SELECT a.more, b.most FROM orders, LATERAL (SELECT amount + 1 AS more) a,
           LATERAL (SELECT a.more * order_id AS most) b""",
        {
            "more": "orders.amount TRANSFORMATION",
            "most": "orders.amount TRANSFORMATION, orders.order_id TRANSFORMATION",
        },
    ),
    Case(
        "a window over a window",
        """SELECT order_id FROM (
             SELECT *, sum(flag) OVER (PARTITION BY customer_id ORDER BY placed_at) AS grp FROM (
               SELECT *, if(amount > lag(amount) OVER (PARTITION BY customer_id ORDER BY placed_at), 1, 0) AS flag
               FROM orders))
           WHERE grp = 1""",
        {"order_id": "orders.order_id"},
        "orders.amount FILTER, orders.customer_id FILTER, orders.placed_at FILTER",
    ),
    Case(
        "UNPIVOT of two columns at once, with nulls",
        """SELECT order_id, k, v, w FROM
             (SELECT order_id, amount, reason, amount * 2 AS twice, upper(reason) AS loud FROM refunds)
           UNPIVOT INCLUDE NULLS ((v, w) FOR k IN ((amount, reason) AS one, (twice, loud) AS two))""",
        {
            "order_id": "refunds.order_id",
            "k": "",
            "v": "refunds.amount, refunds.amount TRANSFORMATION",
            "w": "refunds.reason, refunds.reason TRANSFORMATION",
        },
    ),
    Case(
        "names that need quotes",
        "SELECT `odd name`, `a.b` FROM (SELECT order_id AS `odd name`, amount AS `a.b` FROM orders)",
        {"odd name": "orders.order_id", "a.b": "orders.amount"},
    ),
    Case(
        "rows of an external program are a gap",
        "SELECT TRANSFORM(order_id, status) USING 'cat' AS (a STRING) FROM orders",
        {"a": ""},
        inputs="orders",
        gaps=("ScriptTransformation: a",),
    ),
]


@pytest.mark.parametrize("case", [*STRUCTS, *MORE], ids=lambda case: case.name.replace(" ", "-"))
def test_a_query_has_the_expected_lineage(lake: SparkSession, case: Case) -> None:
    lineage = lineage_of_query(lake.sql(case.sql))

    assert lineage == expected(case.columns, case.rows, case.inputs, case.gaps)
