"""SQL queries and their lineage, written by hand from the SQL."""

import pytest
from pyspark.sql import SparkSession

from tests.component.sparkplan.sparkplan_jvm import Case, lineage_of_query
from tests.support.lineage_text import expected

pytestmark = pytest.mark.spark

PROJECTIONS = [
    Case(
        "a column as it is",
        "SELECT order_id, amount AS total FROM orders",
        {"order_id": "orders.order_id", "total": "orders.amount"},
    ),
    Case(
        "an expression transforms all its columns",
        "SELECT amount * order_id AS a, concat(status, '-', cast(order_id AS STRING)) AS b FROM orders",
        {
            "a": "orders.amount TRANSFORMATION, orders.order_id TRANSFORMATION",
            "b": "orders.status TRANSFORMATION, orders.order_id TRANSFORMATION",
        },
    ),
    Case(
        "literals, the clock and random numbers have no inputs",
        "SELECT 1 AS one, 'x' AS x, current_timestamp() AS now, rand() AS dice, NULL AS nothing FROM orders",
        {"one": "", "x": "", "now": "", "dice": "", "nothing": ""},
        inputs="orders",
    ),
    Case(
        "a star is every column",
        "SELECT * FROM refunds",
        {"order_id": "refunds.order_id", "amount": "refunds.amount", "reason": "refunds.reason"},
    ),
    Case(
        "a star with EXCEPT",
        "SELECT r.* EXCEPT (reason), upper(reason) AS reason FROM refunds r",
        {
            "order_id": "refunds.order_id",
            "amount": "refunds.amount",
            "reason": "refunds.reason TRANSFORMATION",
        },
    ),
    Case(
        "an alias used in the same SELECT",
        "SELECT amount + 1 AS more, more * 2 AS twice FROM refunds",
        {"more": "refunds.amount TRANSFORMATION", "twice": "refunds.amount TRANSFORMATION"},
    ),
    Case(
        "fields and elements count as their column",
        "SELECT address.city AS city, items[0] AS item, tags['k'] AS tag FROM orders",
        {
            "city": "orders.address TRANSFORMATION",
            "item": "orders.items TRANSFORMATION",
            "tag": "orders.tags TRANSFORMATION",
        },
    ),
    Case(
        "structs, arrays and maps are made from their parts",
        """SELECT named_struct('a', order_id, 'b', status) AS s, array(amount, order_id) AS a, map(status, amount) AS m
           FROM orders""",
        {
            "s": "orders.order_id TRANSFORMATION, orders.status TRANSFORMATION",
            "a": "orders.amount TRANSFORMATION, orders.order_id TRANSFORMATION",
            "m": "orders.status TRANSFORMATION, orders.amount TRANSFORMATION",
        },
    ),
    Case(
        "a lambda's own variables are not columns, but what it captures is",
        """SELECT transform(items, item -> concat(item, status)) AS t, filter(items, (item, i) -> i > order_id) AS f,
                  aggregate(items, '', (sofar, item) -> concat(sofar, item)) AS a
           FROM orders""",
        {
            "t": "orders.items TRANSFORMATION, orders.status TRANSFORMATION",
            "f": "orders.items TRANSFORMATION, orders.order_id TRANSFORMATION",
            "a": "orders.items TRANSFORMATION",
        },
    ),
    Case(
        "hashes and masks hide the value",
        "SELECT md5(email) AS a, sha2(email, 256) AS b, hash(name, city) AS c, mask(name) AS d FROM customers",
        {
            "a": "customers.email TRANSFORMATION masked",
            "b": "customers.email TRANSFORMATION masked",
            "c": "customers.name TRANSFORMATION masked, customers.city TRANSFORMATION masked",
            "d": "customers.name TRANSFORMATION masked",
        },
    ),
    Case(
        "metadata columns of a table",
        "SELECT order_id, _file FROM lineage.shop.orders",
        {"order_id": "orders.order_id", "_file": "orders._file"},
    ),
    Case("rows of literals", "SELECT k, v FROM VALUES (1, 'secret') AS t(k, v)", {"k": "", "v": ""}),
    Case("generated numbers", "SELECT id * 2 AS twice FROM range(10)", {"twice": ""}),
]

CONDITIONS = [
    Case(
        "CASE: conditions have influence, values go in",
        "SELECT CASE WHEN order_id > 1 THEN status WHEN amount > 2 THEN 'x' ELSE address.zip END AS c FROM orders",
        {
            "c": "orders.order_id CONDITIONAL, orders.amount CONDITIONAL, orders.status TRANSFORMATION, "
            "orders.address TRANSFORMATION"
        },
    ),
    Case(
        "CASE without ELSE",
        "SELECT CASE status WHEN 'paid' THEN amount END AS c FROM orders",
        {"c": "orders.status CONDITIONAL, orders.amount TRANSFORMATION"},
    ),
    Case(
        "IF, and an IF that makes no difference",
        "SELECT if(status = 'paid', amount, 0) AS a, if(status = 'paid', amount, amount) AS b FROM orders",
        {"a": "orders.status CONDITIONAL, orders.amount TRANSFORMATION", "b": "orders.amount"},
    ),
    Case(
        "literals by condition",
        "SELECT if(amount > 100, 'big', 'small') AS size FROM orders",
        {"size": "orders.amount CONDITIONAL"},
    ),
    Case(
        "COALESCE and similar functions choose by their own values",
        "SELECT coalesce(status, address.zip) AS a, nvl(amount, 0) AS b, nullif(status, 'none') AS c FROM orders",
        {
            "a": "orders.status CONDITIONAL, orders.status TRANSFORMATION, orders.address CONDITIONAL, "
            "orders.address TRANSFORMATION",
            "b": "orders.amount CONDITIONAL, orders.amount TRANSFORMATION",
            "c": "orders.status CONDITIONAL, orders.status TRANSFORMATION",
        },
    ),
    Case(
        "a condition inside an aggregate",
        "SELECT sum(CASE WHEN status = 'paid' THEN amount ELSE 0 END) AS paid FROM orders",
        {"paid": "orders.status CONDITIONAL, orders.amount AGGREGATION"},
    ),
]

ROWS = [
    Case(
        "a filter decides the rows",
        "SELECT order_id FROM orders WHERE upper(status) = 'PAID' AND amount > customer_id",
        {"order_id": "orders.order_id"},
        "orders.status FILTER, orders.amount FILTER, orders.customer_id FILTER",
    ),
    Case(
        "every column in a filter's expression filters",
        "SELECT order_id FROM orders WHERE CASE WHEN amount BETWEEN 1 AND 2 THEN status ELSE 'x' END = 'x'",
        {"order_id": "orders.order_id"},
        "orders.status FILTER, orders.amount FILTER",
    ),
    Case(
        "a filter on a hash",
        "SELECT name FROM customers WHERE md5(email) = '0'",
        {"name": "customers.name"},
        "customers.email FILTER masked",
    ),
    Case(
        "the sort order",
        "SELECT order_id FROM orders ORDER BY amount DESC, lower(status) LIMIT 3",
        {"order_id": "orders.order_id"},
        "orders.amount SORT, orders.status SORT",
    ),
    Case(
        "a limit alone decides nothing by a column",
        "SELECT order_id FROM orders LIMIT 3 OFFSET 1",
        {"order_id": "orders.order_id"},
    ),
    Case(
        "DISTINCT groups by all columns",
        "SELECT DISTINCT status, amount FROM orders",
        {"status": "orders.status", "amount": "orders.amount"},
        "orders.status GROUP_BY, orders.amount GROUP_BY",
    ),
    Case(
        "a subquery's filter also decides the rows of the outer query",
        "SELECT a + 1 AS b FROM (SELECT amount AS a, status FROM orders WHERE customer_id = 1) WHERE status = 'paid'",
        {"b": "orders.amount TRANSFORMATION"},
        "orders.customer_id FILTER, orders.status FILTER",
    ),
    Case(
        "samples and hints change nothing",
        "SELECT /*+ REPARTITION(3, status) */ order_id FROM orders TABLESAMPLE (10 PERCENT)",
        {"order_id": "orders.order_id"},
    ),
    Case(
        "pipe syntax",
        "FROM orders |> WHERE amount > 1 |> AGGREGATE sum(amount) AS total GROUP BY status |> ORDER BY total",
        {"status": "orders.status", "total": "orders.amount AGGREGATION"},
        "orders.amount FILTER, orders.status GROUP_BY, orders.amount SORT",
    ),
]

AGGREGATES = [
    Case(
        "groups, sums and counts",
        "SELECT status, sum(amount) AS total, count(*) AS n, count(customer_id) AS c FROM orders GROUP BY status",
        {
            "status": "orders.status",
            "total": "orders.amount AGGREGATION",
            "n": "",
            "c": "orders.customer_id AGGREGATION masked",
        },
        "orders.status GROUP_BY",
    ),
    Case(
        "a group by an expression, and HAVING",
        "SELECT date(placed_at) AS day, max(amount) AS top FROM orders GROUP BY 1 HAVING avg(order_id) > 5",
        {"day": "orders.placed_at TRANSFORMATION", "top": "orders.amount AGGREGATION"},
        "orders.placed_at GROUP_BY, orders.order_id FILTER",
    ),
    Case(
        "an aggregate without GROUP BY",
        "SELECT min(amount) AS low, count(DISTINCT status) AS kinds FROM orders",
        {"low": "orders.amount AGGREGATION", "kinds": "orders.status AGGREGATION masked"},
    ),
    Case(
        "expressions within and around aggregates",
        "SELECT round(sum(amount * order_id) / count(status), 2) AS x FROM orders",
        {"x": "orders.amount AGGREGATION, orders.order_id AGGREGATION, orders.status AGGREGATION masked"},
    ),
    Case(
        "an aggregate's own filter decides that column only",
        "SELECT sum(amount) FILTER (WHERE status = 'paid') AS paid, sum(amount) AS total FROM orders",
        {"paid": "orders.amount AGGREGATION, orders.status FILTER", "total": "orders.amount AGGREGATION"},
    ),
    Case(
        "the value at an extreme, and a list in order",
        """SELECT max_by(status, placed_at) AS last, listagg(status, ',') WITHIN GROUP (ORDER BY placed_at) AS all
           FROM orders""",
        {
            "last": "orders.status AGGREGATION, orders.placed_at SORT",
            "all": "orders.status AGGREGATION, orders.placed_at SORT",
        },
    ),
    Case(
        "ROLLUP",
        """SELECT status, customer_id, sum(amount) AS t, grouping(status) AS g FROM orders
           GROUP BY ROLLUP (status, customer_id)""",
        {"status": "orders.status", "customer_id": "orders.customer_id", "t": "orders.amount AGGREGATION", "g": ""},
        "orders.status GROUP_BY, orders.customer_id GROUP_BY",
    ),
    Case(
        "CUBE over an expression",
        "SELECT upper(status) AS s, count(*) AS n FROM orders GROUP BY CUBE (upper(status), customer_id)",
        {"s": "orders.status TRANSFORMATION", "n": ""},
        "orders.status GROUP_BY, orders.customer_id GROUP_BY",
    ),
    Case(
        "GROUPING SETS",
        "SELECT status, max(amount) AS top FROM orders GROUP BY GROUPING SETS ((status), (customer_id), ())",
        {"status": "orders.status", "top": "orders.amount AGGREGATION"},
        "orders.status GROUP_BY, orders.customer_id GROUP_BY",
    ),
    Case(
        "groups by a window of time, which leaves out rows without time",
        "SELECT window.start AS start, sum(amount) AS t FROM orders GROUP BY window(placed_at, '10 minutes')",
        {
            "start": "orders.placed_at TRANSFORMATION, orders.placed_at CONDITIONAL",
            "t": "orders.amount AGGREGATION",
        },
        "orders.placed_at GROUP_BY, orders.placed_at FILTER",
    ),
    Case(
        "PIVOT",
        """SELECT * FROM (SELECT customer_id, status, amount FROM orders)
           PIVOT (sum(amount) FOR status IN ('paid' AS paid, 'open' AS open))""",
        {
            "customer_id": "orders.customer_id",
            "paid": "orders.amount AGGREGATION, orders.status CONDITIONAL",
            "open": "orders.amount AGGREGATION, orders.status CONDITIONAL",
        },
        "orders.customer_id GROUP_BY, orders.status GROUP_BY",
    ),
    Case(
        "UNPIVOT, which leaves out nulls",
        "SELECT order_id, name, value FROM refunds UNPIVOT (value FOR name IN (amount)) ",
        {"order_id": "refunds.order_id", "name": "", "value": "refunds.amount"},
        "refunds.amount FILTER",
    ),
]

JOINS = [
    Case(
        "an inner join",
        "SELECT o.amount, c.name FROM orders o JOIN customers c ON o.customer_id = c.customer_id AND c.city = 'Paris'",
        {"amount": "orders.amount", "name": "customers.name"},
        "orders.customer_id JOIN, customers.customer_id JOIN, customers.city JOIN",
    ),
    Case(
        "USING takes the key of the preserved side: left",
        "SELECT customer_id, name FROM orders LEFT JOIN customers USING (customer_id)",
        {"customer_id": "orders.customer_id", "name": "customers.name"},
        "orders.customer_id JOIN, customers.customer_id JOIN",
    ),
    Case(
        "USING takes the key of the preserved side: right",
        "SELECT customer_id, amount FROM orders RIGHT JOIN customers USING (customer_id)",
        {"customer_id": "customers.customer_id", "amount": "orders.amount"},
        "orders.customer_id JOIN, customers.customer_id JOIN",
    ),
    Case(
        "USING takes the key of either side: full",
        "SELECT customer_id, name FROM orders FULL JOIN customers USING (customer_id)",
        {
            "customer_id": "orders.customer_id CONDITIONAL, orders.customer_id TRANSFORMATION, "
            "customers.customer_id CONDITIONAL, customers.customer_id TRANSFORMATION",
            "name": "customers.name",
        },
        "orders.customer_id JOIN, customers.customer_id JOIN",
    ),
    Case(
        "a natural join over all columns of the same name",
        "SELECT order_id, status, reason FROM orders NATURAL JOIN refunds",
        {"order_id": "orders.order_id", "status": "orders.status", "reason": "refunds.reason"},
        "orders.order_id JOIN, refunds.order_id JOIN, orders.amount JOIN, refunds.amount JOIN",
    ),
    Case(
        "a semi join only filters",
        "SELECT order_id FROM orders o LEFT SEMI JOIN refunds r ON o.order_id = r.order_id",
        {"order_id": "orders.order_id"},
        "orders.order_id JOIN, refunds.order_id JOIN",
    ),
    Case(
        "an anti join only filters",
        "SELECT order_id FROM orders o LEFT ANTI JOIN refunds r ON o.order_id = r.order_id AND r.amount > 0",
        {"order_id": "orders.order_id"},
        "orders.order_id JOIN, refunds.order_id JOIN, refunds.amount JOIN",
    ),
    Case(
        "a cross join",
        "SELECT o.order_id, c.name FROM orders o CROSS JOIN customers c",
        {"order_id": "orders.order_id", "name": "customers.name"},
    ),
    Case(
        "a table of which no column is selected is an input too",
        "SELECT o.order_id FROM orders o CROSS JOIN customers",
        {"order_id": "orders.order_id"},
        inputs="orders, customers",
    ),
    Case(
        "a self join",
        "SELECT a.order_id, b.amount AS other FROM orders a JOIN orders b ON a.customer_id = b.order_id",
        {"order_id": "orders.order_id", "other": "orders.amount"},
        "orders.customer_id JOIN, orders.order_id JOIN",
    ),
    Case(
        "a join with literals",
        "SELECT o.amount, v.label FROM orders o JOIN VALUES ('paid', 'done') AS v(key, label) ON o.status = v.key",
        {"amount": "orders.amount", "label": ""},
        "orders.status JOIN",
    ),
    Case(
        "a lateral subquery",
        """SELECT o.order_id, r.back FROM orders o,
           LATERAL (SELECT sum(amount) AS back FROM refunds WHERE refunds.order_id = o.order_id) r""",
        {"order_id": "orders.order_id", "back": "refunds.amount AGGREGATION"},
        "refunds.order_id FILTER, orders.order_id FILTER",
    ),
]

SUBQUERIES = [
    Case(
        "a scalar subquery",
        "SELECT order_id, (SELECT max(amount) FROM refunds) AS top FROM orders",
        {"order_id": "orders.order_id", "top": "refunds.amount AGGREGATION"},
    ),
    Case(
        "the filter of a scalar subquery decides that column only",
        """SELECT order_id, (SELECT sum(r.amount) FROM refunds r WHERE r.order_id = o.order_id AND reason = 'x') AS back
           FROM orders o""",
        {
            "order_id": "orders.order_id",
            "back": "refunds.amount AGGREGATION, refunds.order_id FILTER, orders.order_id FILTER, "
            "refunds.reason FILTER",
        },
    ),
    Case(
        "IN",
        "SELECT amount FROM orders WHERE order_id IN (SELECT order_id FROM refunds WHERE amount > 1)",
        {"amount": "orders.amount"},
        "orders.order_id FILTER, refunds.order_id FILTER, refunds.amount FILTER",
    ),
    Case(
        "NOT IN, of pairs",
        "SELECT status FROM orders WHERE (order_id, amount) NOT IN (SELECT order_id, amount FROM refunds)",
        {"status": "orders.status"},
        "orders.order_id FILTER, orders.amount FILTER, refunds.order_id FILTER, refunds.amount FILTER",
    ),
    Case(
        "EXISTS takes nothing from what the subquery selects",
        "SELECT amount FROM orders o WHERE EXISTS (SELECT reason FROM refunds r WHERE r.order_id = o.order_id)",
        {"amount": "orders.amount"},
        "orders.order_id FILTER, refunds.order_id FILTER",
    ),
    Case(
        "EXISTS and IN as values",
        """SELECT EXISTS (SELECT 1 FROM refunds r WHERE r.order_id = o.order_id) AS e,
                  status IN (SELECT reason FROM refunds) AS i
           FROM orders o""",
        {
            "e": "refunds.order_id FILTER, orders.order_id FILTER",
            "i": "orders.status TRANSFORMATION, refunds.reason TRANSFORMATION",
        },
    ),
    Case(
        "a scalar subquery in a filter",
        "SELECT order_id FROM orders WHERE amount > (SELECT avg(amount) FROM refunds WHERE reason = 'x')",
        {"order_id": "orders.order_id"},
        "orders.amount FILTER, refunds.amount FILTER, refunds.reason FILTER",
    ),
    Case(
        "a subquery in HAVING",
        """SELECT status, sum(amount) AS t FROM orders GROUP BY status
           HAVING sum(amount) > (SELECT avg(amount) FROM refunds)""",
        {"status": "orders.status", "t": "orders.amount AGGREGATION"},
        "orders.status GROUP_BY, orders.amount FILTER, refunds.amount FILTER",
    ),
    Case(
        "subqueries in subqueries",
        """SELECT order_id FROM orders WHERE order_id IN
           (SELECT order_id FROM refunds WHERE amount = (SELECT max(customer_id) FROM customers WHERE city = 'x'))""",
        {"order_id": "orders.order_id"},
        "orders.order_id FILTER, refunds.order_id FILTER, refunds.amount FILTER, customers.customer_id FILTER, "
        "customers.city FILTER",
    ),
    Case(
        "a common table used twice",
        """WITH paid AS (SELECT order_id, customer_id, amount AS a FROM orders WHERE status = 'paid')
           SELECT p.a, q.a * 2 AS twice FROM paid p JOIN paid q ON p.order_id = q.customer_id""",
        {"a": "orders.amount", "twice": "orders.amount TRANSFORMATION"},
        "orders.status FILTER, orders.order_id JOIN, orders.customer_id JOIN",
    ),
    Case(
        "a common table from another, one in a subquery, and one that is not used",
        """WITH a AS (SELECT order_id, amount FROM orders), b AS (SELECT order_id, amount + 1 AS more FROM a),
                unused AS (SELECT name FROM customers)
           SELECT b.more, (WITH r AS (SELECT amount FROM refunds) SELECT max(amount) FROM r) AS top FROM b
           WHERE order_id IN (SELECT order_id FROM a)""",
        {"more": "orders.amount TRANSFORMATION", "top": "refunds.amount AGGREGATION"},
        "orders.order_id FILTER",
    ),
    Case(
        "a recursive common table",
        """WITH RECURSIVE r(id, at) AS (
             SELECT order_id, customer_id FROM orders
             UNION ALL SELECT f.order_id, r.id FROM r JOIN refunds f ON f.order_id = r.at WHERE f.amount > 0)
           SELECT id, at FROM r""",
        {
            "id": "orders.order_id, refunds.order_id",
            "at": "orders.customer_id, orders.order_id, refunds.order_id",
        },
        "refunds.order_id JOIN, orders.customer_id JOIN, orders.order_id JOIN, refunds.amount FILTER",
    ),
]

UNIONS = [
    Case(
        "UNION ALL joins columns by position",
        "SELECT order_id AS id, status AS note FROM orders UNION ALL SELECT order_id, upper(reason) FROM refunds",
        {"id": "orders.order_id, refunds.order_id", "note": "orders.status, refunds.reason TRANSFORMATION"},
    ),
    Case(
        "UNION removes duplicates",
        "SELECT status AS note FROM orders WHERE amount > 1 UNION SELECT reason FROM refunds",
        {"note": "orders.status, refunds.reason"},
        "orders.amount FILTER, orders.status GROUP_BY, refunds.reason GROUP_BY",
    ),
    Case(
        "a union joined with one of its own sources",
        """SELECT u.order_id, o.status FROM (SELECT order_id FROM orders UNION ALL SELECT order_id FROM refunds) u
           JOIN orders o ON o.order_id = u.order_id""",
        {"order_id": "orders.order_id, refunds.order_id", "status": "orders.status"},
        "orders.order_id JOIN, refunds.order_id JOIN",
    ),
    Case(
        "INTERSECT takes the left values",
        "SELECT order_id FROM orders INTERSECT SELECT order_id FROM refunds",
        {"order_id": "orders.order_id"},
        "orders.order_id JOIN, refunds.order_id JOIN, orders.order_id GROUP_BY",
    ),
    Case(
        "EXCEPT ALL takes the left values",
        "SELECT order_id, amount FROM orders EXCEPT ALL SELECT order_id, amount FROM refunds",
        {"order_id": "orders.order_id", "amount": "orders.amount"},
        "orders.order_id JOIN, refunds.order_id JOIN, orders.amount JOIN, refunds.amount JOIN",
    ),
]

WINDOWS = [
    Case(
        "a row's number depends on partition and order",
        "SELECT order_id, row_number() OVER (PARTITION BY customer_id ORDER BY placed_at DESC) AS n FROM orders",
        {"order_id": "orders.order_id", "n": "orders.customer_id WINDOW, orders.placed_at WINDOW"},
    ),
    Case(
        "ranks are made from the order only",
        "SELECT rank() OVER (ORDER BY amount) AS r, ntile(4) OVER (ORDER BY upper(status)) AS q FROM orders",
        {"r": "orders.amount WINDOW", "q": "orders.status WINDOW"},
    ),
    Case(
        "aggregates over a window",
        """SELECT sum(amount) OVER w AS running, count(status) OVER w AS n FROM orders
           WINDOW w AS (PARTITION BY customer_id ORDER BY placed_at ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)""",
        {
            "running": "orders.amount AGGREGATION, orders.customer_id WINDOW, orders.placed_at WINDOW",
            "n": "orders.status AGGREGATION masked, orders.customer_id WINDOW, orders.placed_at WINDOW",
        },
    ),
    Case(
        "another row's value",
        "SELECT lag(amount, 1, 0) OVER (PARTITION BY customer_id ORDER BY placed_at) AS before FROM orders",
        {"before": "orders.amount TRANSFORMATION, orders.customer_id WINDOW, orders.placed_at WINDOW"},
    ),
    Case(
        "the first of each group: the window becomes a filter",
        """SELECT order_id FROM
           (SELECT order_id, row_number() OVER (PARTITION BY customer_id ORDER BY placed_at) AS n FROM orders)
           WHERE n = 1""",
        {"order_id": "orders.order_id"},
        "orders.customer_id FILTER, orders.placed_at FILTER",
    ),
    Case(
        "a window over groups",
        "SELECT status, rank() OVER (ORDER BY sum(amount)) AS r FROM orders GROUP BY status",
        {"status": "orders.status", "r": "orders.amount WINDOW"},
        "orders.status GROUP_BY",
    ),
]

GENERATORS = [
    Case(
        "explode",
        "SELECT order_id, item FROM orders LATERAL VIEW explode(items) AS item",
        {"order_id": "orders.order_id", "item": "orders.items TRANSFORMATION"},
        "orders.items JOIN",
    ),
    Case(
        "positions, keys and values",
        "SELECT order_id, posexplode(items) AS (at, item) FROM orders",
        {
            "order_id": "orders.order_id",
            "at": "orders.items TRANSFORMATION",
            "item": "orders.items TRANSFORMATION",
        },
        "orders.items JOIN",
    ),
    Case(
        "inline and an outer explode of a map",
        """SELECT c, z, k FROM orders
           LATERAL VIEW inline(array(address)) AS c, z LATERAL VIEW OUTER explode(tags) AS k, v""",
        {
            "c": "orders.address TRANSFORMATION",
            "z": "orders.address TRANSFORMATION",
            "k": "orders.tags TRANSFORMATION",
        },
        "orders.tags JOIN",
    ),
    Case(
        "stack distributes its cells column by column",
        "SELECT stack(2, 'a', amount, order_id, 'r', amount * 2, customer_id) AS (label, value, id) FROM orders",
        {
            "label": "",
            "value": "orders.amount TRANSFORMATION",
            "id": "orders.order_id TRANSFORMATION, orders.customer_id TRANSFORMATION",
        },
    ),
    Case(
        "EXISTS over the elements of an array",
        "SELECT order_id FROM orders o WHERE EXISTS (SELECT 1 FROM explode(o.items) AS e(item) WHERE item = 'x')",
        {"order_id": "orders.order_id"},
        "orders.items FILTER",
    ),
    Case(
        "json_tuple",
        "SELECT j.a FROM orders LATERAL VIEW json_tuple(status, 'a', 'b') j AS a, b",
        {"a": "orders.status TRANSFORMATION"},
    ),
    Case(
        "a table function next to a table",
        "SELECT o.order_id, e.col FROM orders o, LATERAL explode(o.items) e",
        {"order_id": "orders.order_id", "col": "orders.items TRANSFORMATION"},
        "orders.items JOIN",
    ),
]

ALL = [*PROJECTIONS, *CONDITIONS, *ROWS, *AGGREGATES, *JOINS, *SUBQUERIES, *UNIONS, *WINDOWS, *GENERATORS]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name.replace(" ", "-"))
def test_a_query_has_the_expected_lineage(lake: SparkSession, case: Case) -> None:
    frame = lake.sql(case.sql)

    lineage = lineage_of_query(frame)

    assert lineage == expected(case.columns, case.rows, case.inputs, case.gaps)
