"""Column lineage of statements from their text; every expectation is written by hand."""

# ruff: noqa: S608  (the texts are the test data)

import logging
from itertools import pairwise

import pytest

from headwater.sql.columns import Statement, statement
from headwater.sql.reading import DEEPEST, INTAKE_BOUNDS, Parts, UnreadableSqlError, sqlglot_errors_as
from headwater.sql.transformations import Transformation

TABLES: dict[Parts, tuple[str, ...]] = {
    ("lake", "sales", "orders"): ("order_id", "supplier", "price", "hour"),
    ("lake", "sales", "odd name"): ("order", "tags", "names"),
    ("lake", "sales", "suppliers"): ("supplier", "country"),
    ("lake", "sales", "stats"): ("supplier", "total_price", "orders"),
    ("lake", "sales", "wide"): tuple(f"c{at}" for at in range(2_000)),
    **{("lake", "sales", f"wide{number}"): tuple(f"c{at}" for at in range(2_000)) for number in range(30)},
    ("suppliers",): ("supplier", "country"),
    ("stats",): ("supplier", "total_price", "orders"),
    ("public", "camel"): ("orderId", "price"),
    ("SALES", "ORDERS"): ("supplier", "price"),
    ("old", "sales", "orders"): ("price",),
}


def known(table: Parts) -> tuple[str, ...]:
    return TABLES.get(table, ())


def lineage(sql: str, dialect: str = "trino") -> Statement:
    return statement(sql, dialect, known, INTAKE_BOUNDS)


def columns(result: Statement) -> dict[str, list[str]]:
    """`{"total": ["orders.price AGGREGATION"]}`; the inputs of the rows are under `*`."""
    texts = {
        name: sorted(f"{s.table[-1]}.{s.column} {s.how.subtype}" for s in sources)
        for name, sources in result.columns.items()
    }
    return {**texts, "*": sorted(f"{s.table[-1]}.{s.column} {s.how.subtype}" for s in result.rows)}


QUERIES = {
    "SELECT supplier, sum(price) AS total FROM lake.sales.orders WHERE hour > 3 GROUP BY supplier": {
        "supplier": ["orders.supplier IDENTITY"],
        "total": ["orders.price AGGREGATION"],
        "*": ["orders.hour FILTER", "orders.supplier GROUP_BY"],
    },
    "SELECT supplier, sum(price) AS hour FROM lake.sales.orders GROUP BY supplier ORDER BY hour DESC": {
        "supplier": ["orders.supplier IDENTITY"],
        "hour": ["orders.price AGGREGATION"],
        "*": ["orders.price SORT", "orders.supplier GROUP_BY"],
    },
    "SELECT * FROM lake.sales.suppliers": {
        "supplier": ["suppliers.supplier IDENTITY"],
        "country": ["suppliers.country IDENTITY"],
        "*": [],
    },
    "SELECT o.price * 2 AS twice, s.* FROM lake.sales.orders o JOIN lake.sales.suppliers s"
    " ON o.supplier = s.supplier": {
        "twice": ["orders.price TRANSFORMATION"],
        "supplier": ["suppliers.supplier IDENTITY"],
        "country": ["suppliers.country IDENTITY"],
        "*": ["orders.supplier JOIN", "suppliers.supplier JOIN"],
    },
    "SELECT SUPPLIER FROM lake.sales.Orders UNION ALL SELECT country FROM lake.sales.suppliers": {
        "supplier": ["orders.supplier IDENTITY", "suppliers.country IDENTITY"],
        "*": [],
    },
    "WITH dear AS (SELECT supplier, price AS p FROM lake.sales.orders WHERE price > 10)"
    " SELECT supplier, CASE WHEN p > 99 THEN 1 ELSE 0 END AS big FROM dear": {
        "supplier": ["orders.supplier IDENTITY"],
        "big": ["orders.price CONDITIONAL"],
        "*": ["orders.price FILTER"],
    },
    "SELECT order_id, row_number() OVER (PARTITION BY supplier ORDER BY price) AS place FROM lake.sales.orders": {
        "order_id": ["orders.order_id IDENTITY"],
        "place": ["orders.price WINDOW", "orders.supplier WINDOW"],
        "*": [],
    },
    "SELECT s.supplier, (SELECT max(price) FROM lake.sales.orders o WHERE o.supplier = s.supplier) AS dearest"
    " FROM lake.sales.suppliers s": {
        "supplier": ["suppliers.supplier IDENTITY"],
        "dearest": ["orders.price AGGREGATION", "orders.supplier CONDITIONAL", "suppliers.supplier CONDITIONAL"],
        "*": [],
    },
    "SELECT order_id FROM lake.sales.orders o WHERE EXISTS"
    " (SELECT 1 FROM lake.sales.suppliers s WHERE s.supplier = o.supplier)": {
        "order_id": ["orders.order_id IDENTITY"],
        "*": ["orders.supplier FILTER", "suppliers.supplier FILTER"],
    },
    "SELECT part FROM lake.sales.orders CROSS JOIN UNNEST(split(supplier, ',')) AS t (part)": {
        "part": ["orders.supplier TRANSFORMATION"],
        "*": ["orders.supplier JOIN"],
    },
    "SELECT supplier FROM lake.sales.orders EXCEPT SELECT supplier FROM lake.sales.suppliers": {
        "supplier": ["orders.supplier IDENTITY"],
        "*": ["orders.supplier GROUP_BY", "orders.supplier JOIN", "suppliers.supplier JOIN"],
    },
    "SELECT supplier FROM lake.sales.orders INTERSECT ALL SELECT country FROM lake.sales.suppliers": {
        "supplier": ["orders.supplier IDENTITY"],
        "*": ["orders.supplier JOIN", "suppliers.country JOIN"],
    },
    "SELECT DISTINCT supplier FROM lake.sales.orders UNION SELECT country FROM lake.sales.suppliers": {
        "supplier": ["orders.supplier IDENTITY", "suppliers.country IDENTITY"],
        "*": ["orders.supplier GROUP_BY", "suppliers.country GROUP_BY"],
    },
    "(SELECT supplier FROM lake.sales.orders) UNION ALL (SELECT country FROM lake.sales.suppliers ORDER BY supplier)": {
        "supplier": ["orders.supplier IDENTITY", "suppliers.country IDENTITY"],
        "*": ["suppliers.supplier SORT"],
    },
    "SELECT lag(price) OVER w AS before, sum(price) OVER w AS running FROM lake.sales.orders"
    " WINDOW w AS (PARTITION BY supplier ORDER BY hour)": {
        "before": ["orders.hour WINDOW", "orders.price TRANSFORMATION", "orders.supplier WINDOW"],
        "running": ["orders.hour WINDOW", "orders.price AGGREGATION", "orders.supplier WINDOW"],
        "*": [],
    },
    "SELECT array_agg(price ORDER BY hour) AS prices, max_by(supplier, price) AS dearest,"
    " map_agg(supplier, price) AS m, listagg(supplier, ',') WITHIN GROUP (ORDER BY hour) AS names,"
    " md5(to_utf8(max(supplier))) AS hidden FROM lake.sales.orders": {
        "prices": ["orders.hour SORT", "orders.price AGGREGATION"],
        "dearest": ["orders.price SORT", "orders.supplier AGGREGATION"],
        "m": ["orders.price AGGREGATION", "orders.supplier AGGREGATION"],
        "names": ["orders.hour SORT", "orders.supplier AGGREGATION"],
        "hidden": ["orders.supplier AGGREGATION"],
        "*": [],
    },
    "SELECT supplier, grouping(supplier, hour) AS g, max(price) AS top FROM lake.sales.orders"
    " GROUP BY CUBE (supplier, hour) HAVING count(order_id) > 1": {
        "supplier": ["orders.supplier IDENTITY"],
        "g": [],
        "top": ["orders.price AGGREGATION"],
        "*": ["orders.hour GROUP_BY", "orders.order_id FILTER", "orders.supplier GROUP_BY"],
    },
    'SELECT t.tag, t.name, t.n FROM lake.sales."Odd Name" AS o'
    " CROSS JOIN UNNEST(o.tags, o.names) WITH ORDINALITY AS t (tag, name, n)": {
        "tag": ["odd name.tags TRANSFORMATION"],
        "name": ["odd name.names TRANSFORMATION"],
        "n": [],
        "*": ["odd name.names JOIN", "odd name.tags JOIN"],
    },
    'SELECT t.k, t.v FROM lake.sales."Odd Name" CROSS JOIN UNNEST(tags) AS t (k, v)': {
        "k": ["odd name.tags TRANSFORMATION"],
        "v": ["odd name.tags TRANSFORMATION"],
        "*": ["odd name.tags JOIN"],
    },
    'SELECT o."Order" AS "Big Order" FROM lake.sales."Odd Name" AS o WHERE "order" > 1': {
        "big order": ["odd name.order IDENTITY"],
        "*": ["odd name.order FILTER"],
    },
    "SELECT s.supplier, o.top, o.place FROM lake.sales.suppliers s CROSS JOIN LATERAL"
    " (SELECT max(price) AS top, s.country AS place FROM lake.sales.orders WHERE orders.supplier = s.supplier) o": {
        "supplier": ["suppliers.supplier IDENTITY"],
        "top": ["orders.price AGGREGATION"],
        "place": ["suppliers.country IDENTITY"],
        "*": ["orders.supplier JOIN", "suppliers.supplier JOIN"],
    },
    "SELECT EXISTS (SELECT country FROM lake.sales.suppliers s WHERE s.supplier = o.supplier) AS e"
    " FROM lake.sales.orders o": {
        "e": ["orders.supplier CONDITIONAL", "suppliers.supplier CONDITIONAL"],
        "*": [],
    },
    "WITH RECURSIVE t (id, at) AS (SELECT order_id, hour FROM lake.sales.orders UNION ALL"
    " SELECT s.orders, t.id FROM t JOIN lake.sales.stats s ON s.supplier = t.at) SELECT id, at FROM t": {
        "id": ["orders.order_id IDENTITY", "stats.orders IDENTITY"],
        "at": ["orders.hour IDENTITY", "orders.order_id IDENTITY", "stats.orders IDENTITY"],
        "*": ["orders.hour JOIN", "orders.order_id JOIN", "stats.orders JOIN", "stats.supplier JOIN"],
    },
    "SELECT price FROM lake.sales.orders FOR VERSION AS OF 123 WHERE hour = 1": {
        "price": ["orders.price IDENTITY"],
        "*": ["orders.hour FILTER"],
    },
    "WITH t0 AS (SELECT country AS price FROM lake.sales.suppliers)"
    " SELECT o.price, t0.price AS place FROM lake.sales.orders o CROSS JOIN t0": {
        "price": ["orders.price IDENTITY"],
        "place": ["suppliers.country IDENTITY"],
        "*": [],
    },
    "WITH t1 AS (SELECT supplier, price FROM lake.sales.orders), T0 AS (SELECT supplier, country"
    " FROM lake.sales.suppliers) SELECT t1.price, t0.country FROM t1 JOIN t0 ON t1.supplier = t0.supplier": {
        "price": ["orders.price IDENTITY"],
        "country": ["suppliers.country IDENTITY"],
        "*": ["orders.supplier JOIN", "suppliers.supplier JOIN"],
    },
    "WITH suppliers AS (SELECT country FROM suppliers), countries AS (SELECT country FROM suppliers)"
    " SELECT country FROM countries": {"country": ["suppliers.country IDENTITY"], "*": []},
    "SELECT x.p, s.total_price FROM stats s CROSS JOIN"
    " (WITH stats AS (SELECT price AS p FROM lake.sales.orders) SELECT p FROM stats) x": {
        "p": ["orders.price IDENTITY"],
        "total_price": ["stats.total_price IDENTITY"],
        "*": [],
    },
    "WITH stats AS (SELECT price AS p FROM lake.sales.orders) SELECT p, (SELECT max(p) FROM stats) AS top FROM stats": {
        "p": ["orders.price IDENTITY"],
        "top": ["orders.price AGGREGATION"],
        "*": [],
    },
    "SELECT count(*) AS n FROM lake.sales.orders": {"n": [], "*": []},
    "SELECT lake.sales.orders.price FROM lake.sales.orders": {"price": ["orders.price IDENTITY"], "*": []},
}


@pytest.mark.parametrize("sql", QUERIES)
def test_a_querys_columns_have_these_inputs(sql: str) -> None:
    result = lineage(sql)

    assert columns(result) == QUERIES[sql]
    assert result.gaps == ()
    assert result.target is None


def test_a_natural_join_compares_the_columns_that_both_sides_have() -> None:
    result = lineage("SELECT price, country FROM lake.sales.orders NATURAL JOIN lake.sales.suppliers")

    assert columns(result) == {
        "price": ["orders.price IDENTITY"],
        "country": ["suppliers.country IDENTITY"],
        "*": ["orders.supplier JOIN", "suppliers.supplier JOIN"],
    }


STATEMENTS = {
    "UPDATE lake.sales.stats SET orders = orders + 1 WHERE supplier = 'a'": {
        "orders": ["stats.orders TRANSFORMATION"],
        "*": ["stats.supplier FILTER"],
    },
    "WITH dear AS (SELECT supplier, price AS p FROM lake.sales.orders) UPDATE lake.sales.stats AS t"
    " SET total_price = dear.p FROM dear WHERE dear.supplier = t.supplier": {
        "total_price": ["orders.price IDENTITY"],
        "*": ["orders.supplier FILTER", "stats.supplier FILTER"],
    },
    "UPDATE lake.sales.stats SET total_price = (SELECT max(price) FROM lake.sales.orders)": {
        "total_price": ["orders.price AGGREGATION"],
        "*": [],
    },
    "MERGE INTO lake.sales.stats t USING lake.sales.orders o ON t.supplier = o.supplier"
    " WHEN MATCHED AND o.hour > 1 THEN UPDATE SET total_price = t.total_price + o.price"
    " WHEN NOT MATCHED THEN INSERT (supplier, total_price, orders) VALUES (o.supplier, o.price, 1)": {
        "supplier": ["orders.supplier IDENTITY"],
        "total_price": ["orders.price IDENTITY", "orders.price TRANSFORMATION", "stats.total_price TRANSFORMATION"],
        "orders": [],
        "*": ["orders.hour FILTER", "orders.supplier JOIN", "stats.supplier JOIN"],
    },
    "MERGE INTO lake.sales.stats t USING lake.sales.orders o ON t.supplier = o.supplier"
    " WHEN MATCHED AND o.price = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET orders = 2": {
        "orders": [],
        "*": ["orders.price FILTER", "orders.supplier JOIN", "stats.supplier JOIN"],
    },
    "MERGE INTO lake.sales.stats t USING lake.sales.orders o ON t.supplier = o.supplier"
    " WHEN MATCHED THEN UPDATE SET total_price = price"
    " WHEN NOT MATCHED BY SOURCE THEN UPDATE SET total_price = supplier": {
        "total_price": ["orders.price IDENTITY", "stats.supplier IDENTITY"],
        "*": ["orders.supplier JOIN", "stats.supplier JOIN"],
    },
    "INSERT INTO lake.sales.stats SELECT supplier, sum(price), count(*) FROM lake.sales.orders GROUP BY 1": {
        "supplier": ["orders.supplier IDENTITY"],
        "total_price": ["orders.price AGGREGATION"],
        "orders": [],
        "*": ["orders.supplier GROUP_BY"],
    },
    "INSERT INTO lake.sales.stats (total_price, supplier) SELECT price, supplier FROM lake.sales.orders": {
        "total_price": ["orders.price IDENTITY"],
        "supplier": ["orders.supplier IDENTITY"],
        "*": [],
    },
    "MERGE INTO lake.sales.stats t USING lake.sales.orders o ON t.supplier = o.supplier"
    " WHEN NOT MATCHED THEN INSERT VALUES (o.supplier, o.price, 1)": {
        "supplier": ["orders.supplier IDENTITY"],
        "total_price": ["orders.price IDENTITY"],
        "orders": [],
        "*": ["orders.supplier JOIN", "stats.supplier JOIN"],
    },
    "MERGE INTO lake.sales.stats t USING (WITH stats AS (SELECT supplier, price AS p FROM lake.sales.orders)"
    " SELECT supplier, p FROM stats) s ON t.supplier = s.supplier WHEN MATCHED THEN UPDATE SET total_price = s.p": {
        "total_price": ["orders.price IDENTITY"],
        "*": ["orders.supplier JOIN", "stats.supplier JOIN"],
    },
    "MERGE INTO lake.sales.stats t USING (VALUES ('a', 1.0)) AS s (k, v) ON t.supplier = s.k"
    " WHEN MATCHED THEN UPDATE SET total_price = t.total_price + s.v": {
        "total_price": ["stats.total_price TRANSFORMATION"],
        "*": ["stats.supplier JOIN"],
    },
    "INSERT INTO lake.sales.stats (SELECT supplier, price, 1 FROM lake.sales.orders)": {
        "supplier": ["orders.supplier IDENTITY"],
        "total_price": ["orders.price IDENTITY"],
        "orders": [],
        "*": [],
    },
    "CREATE TABLE IF NOT EXISTS lake.sales.stats AS (SELECT supplier AS s FROM lake.sales.orders) WITH NO DATA": {
        "s": ["orders.supplier IDENTITY"],
        "*": [],
    },
    "CREATE OR REPLACE TABLE lake.sales.stats (a, b) AS"
    " SELECT supplier, max(price) FROM lake.sales.orders GROUP BY 1": {
        "a": ["orders.supplier IDENTITY"],
        "b": ["orders.price AGGREGATION"],
        "*": ["orders.supplier GROUP_BY"],
    },
    "CREATE TABLE lake.sales.stats AS SELECT supplier AS s FROM lake.sales.suppliers": {
        "s": ["suppliers.supplier IDENTITY"],
        "*": [],
    },
    "DELETE FROM lake.sales.stats WHERE supplier IN (SELECT supplier FROM lake.sales.suppliers)": {
        "*": ["stats.supplier FILTER", "suppliers.supplier FILTER"],
    },
}


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_written_tables_columns_have_these_inputs(sql: str) -> None:
    result = lineage(sql)

    assert columns(result) == STATEMENTS[sql]
    assert result.target == ("lake", "sales", "stats")
    assert result.gaps == ()


def test_a_target_is_not_read_unless_it_is_named_again() -> None:
    updated = lineage("UPDATE lake.sales.stats SET orders = orders + 1")
    doubled = lineage("INSERT INTO lake.sales.stats SELECT * FROM lake.sales.stats")

    assert updated.reads == ()
    assert doubled.reads == (("lake", "sales", "stats"),)


MERGED_BY_POSITION = (
    "MERGE INTO lake.sales.stats t USING lake.sales.orders o ON t.supplier = o.supplier"
    " WHEN NOT MATCHED THEN INSERT VALUES (o.supplier, o.price, 1)"
)
BY_POSITION = {
    "WITH x (a, b) AS (SELECT * FROM lake.sales.suppliers) SELECT a, b FROM x": {"a": [], "b": [], "*": []},
    "WITH x (a, b) AS (SELECT * FROM lake.sales.suppliers UNION ALL SELECT * FROM lake.sales.suppliers)"
    " SELECT a, b FROM x": {"a": [], "b": [], "*": []},
    "SELECT a, b FROM (SELECT * FROM lake.sales.suppliers) AS x (a, b)": {"a": [], "b": [], "*": []},
    "SELECT a, b FROM lake.sales.suppliers AS x (a, b)": {"a": [], "b": [], "*": []},
    "SELECT * FROM lake.sales.suppliers UNION ALL SELECT hour, price FROM lake.sales.orders": {
        "supplier": ["suppliers.supplier IDENTITY"],
        "country": ["suppliers.country IDENTITY"],
        "*": [],
    },
    "SELECT hour AS supplier, price AS country FROM lake.sales.orders UNION ALL SELECT * FROM lake.sales.suppliers": {
        "supplier": ["orders.hour IDENTITY"],
        "country": ["orders.price IDENTITY"],
        "*": [],
    },
}


@pytest.mark.parametrize("sql", BY_POSITION)
def test_columns_by_position_are_a_gap_if_the_order_of_a_tables_columns_is_unknown(sql: str) -> None:
    result = statement(sql, "trino", known, INTAKE_BOUNDS, is_in_order=False)

    assert columns(result) == BY_POSITION[sql]
    assert set(result.gaps) == set(result.columns)
    assert lineage(sql).gaps == ()


def test_a_merge_without_column_names_is_refused_if_their_order_is_unknown() -> None:
    with pytest.raises(UnreadableSqlError, match="columns that its MERGE inserts"):
        statement(MERGED_BY_POSITION, "trino", known, INTAKE_BOUNDS, is_in_order=False)


def test_an_insert_by_position_is_a_gap_if_the_order_of_the_columns_is_unknown() -> None:
    sql = "INSERT INTO lake.sales.suppliers SELECT supplier AS country, hour AS supplier FROM lake.sales.orders"

    result = statement(sql, "trino", known, INTAKE_BOUNDS, is_in_order=False)

    assert columns(result) == {"*": []}
    assert result.gaps == ("*",)


def test_a_star_is_resolved_by_name_if_the_order_of_a_tables_columns_is_unknown() -> None:
    sql = (
        "WITH s AS (SELECT supplier AS a, country AS b FROM lake.sales.suppliers),"
        " o AS (SELECT * FROM lake.sales.orders) SELECT price, hour FROM o UNION ALL SELECT * FROM s ORDER BY 2"
    )

    result = statement(sql, "trino", known, INTAKE_BOUNDS, is_in_order=False)

    assert columns(result) == {
        "price": ["orders.price IDENTITY", "suppliers.supplier IDENTITY"],
        "hour": ["orders.hour IDENTITY", "suppliers.country IDENTITY"],
        "*": ["orders.hour SORT", "suppliers.country SORT"],
    }
    assert result.gaps == ()


def test_a_position_in_order_by_is_not_an_input_if_the_order_of_columns_is_unknown() -> None:
    sql = "SELECT * FROM lake.sales.suppliers ORDER BY 1"

    assert columns(statement(sql, "trino", known, INTAKE_BOUNDS, is_in_order=False))["*"] == []
    assert columns(lineage(sql))["*"] == ["suppliers.supplier SORT"]


POSITIONS = {
    "SELECT supplier AS a, price AS b, hour AS c FROM lake.sales.orders"
    " UNION ALL SELECT supplier, supplier, total_price FROM lake.sales.stats": {
        "a": ["orders.supplier IDENTITY", "stats.supplier IDENTITY"],
        "b": ["orders.price IDENTITY", "stats.supplier IDENTITY"],
        "c": ["orders.hour IDENTITY", "stats.total_price IDENTITY"],
        "*": [],
    },
    "WITH x AS (SELECT supplier AS a, price AS b, hour AS c FROM lake.sales.orders"
    " UNION ALL SELECT supplier, supplier, total_price FROM lake.sales.stats) SELECT c FROM x": {
        "c": ["orders.hour IDENTITY", "stats.total_price IDENTITY"],
        "*": [],
    },
    "INSERT INTO lake.sales.stats SELECT supplier, supplier, hour FROM lake.sales.orders": {
        "supplier": ["orders.supplier IDENTITY"],
        "total_price": ["orders.supplier IDENTITY"],
        "orders": ["orders.hour IDENTITY"],
        "*": [],
    },
    "WITH a AS (SELECT price FROM lake.sales.orders WHERE hour > 1),"
    " b AS (SELECT country FROM lake.sales.suppliers) SELECT country FROM b": {
        "country": ["suppliers.country IDENTITY"],
        "*": [],
    },
    "SELECT supplier AS a FROM lake.sales.orders UNION ALL SELECT country FROM lake.sales.suppliers ORDER BY 1": {
        "a": ["orders.supplier IDENTITY", "suppliers.country IDENTITY"],
        "*": ["orders.supplier SORT", "suppliers.country SORT"],
    },
    "SELECT supplier AS a FROM lake.sales.orders UNION ALL SELECT country FROM lake.sales.suppliers ORDER BY a": {
        "a": ["orders.supplier IDENTITY", "suppliers.country IDENTITY"],
        "*": ["orders.supplier SORT", "suppliers.country SORT"],
    },
    "SELECT supplier, country FROM lake.sales.suppliers"
    " UNION ALL CORRESPONDING SELECT price, supplier FROM lake.sales.orders": {
        "supplier": ["orders.supplier IDENTITY", "suppliers.supplier IDENTITY"],
        "*": [],
    },
}


@pytest.mark.parametrize("sql", POSITIONS)
def test_columns_are_combined_by_position_or_by_name_as_in_the_statement(sql: str) -> None:
    assert columns(lineage(sql)) == POSITIONS[sql]


def test_a_union_by_name_has_the_columns_of_both() -> None:
    sql = (
        "SELECT supplier, country FROM lake.sales.suppliers UNION BY NAME SELECT price, supplier FROM lake.sales.orders"
    )

    result = columns(lineage(sql, "duckdb"))

    assert {name: result[name] for name in ("supplier", "country", "price")} == {
        "supplier": ["orders.supplier IDENTITY", "suppliers.supplier IDENTITY"],
        "country": ["suppliers.country IDENTITY"],
        "price": ["orders.price IDENTITY"],
    }


ORDERS = "FROM lake.sales.orders"
NAMES = [  # dialects, the query, the column to check, its inputs
    ("duckdb spark postgres bigquery mysql", f"abs(hour) AS m {ORDERS} GROUP BY m", "*", "hour GROUP_BY"),
    ("trino", f"abs(hour) AS m {ORDERS} GROUP BY m", "*", ""),
    ("duckdb postgres mysql", f"hour AS price {ORDERS} GROUP BY price", "*", "price GROUP_BY"),
    ("trino tsql", f"hour AS price {ORDERS} GROUP BY price", "*", "price GROUP_BY"),
    ("bigquery clickhouse", f"hour AS price {ORDERS} GROUP BY price", "*", "hour GROUP_BY"),
    ("bigquery", f"abs(hour) AS price {ORDERS} GROUP BY abs(price)", "*", "price GROUP_BY"),
    ("duckdb spark mysql bigquery", f"sum(price) AS s {ORDERS} HAVING s > 1", "*", "price FILTER"),
    ("mysql", f"supplier, sum(price) AS hour {ORDERS} GROUP BY supplier HAVING hour > 1", "*",
     "price FILTER, supplier GROUP_BY"),
    ("mysql duckdb", f"sum(price) AS hour {ORDERS} GROUP BY hour HAVING hour > 1", "*", "hour FILTER, hour GROUP_BY"),
    ("duckdb mysql", f"sum(price) AS hour {ORDERS} HAVING max(hour) > 1", "*", "hour FILTER"),
    ("bigquery duckdb databricks", f"row_number() OVER (PARTITION BY supplier) AS rn {ORDERS} QUALIFY rn = 1", "*",
     "supplier FILTER"),
    ("duckdb sqlite", f"price * 2 AS p2 {ORDERS} WHERE p2 > 10", "*", "price FILTER"),
    ("duckdb spark redshift databricks", f"price * 2 AS p2, p2 + 1 AS p3 {ORDERS}", "p3", "price TRANSFORMATION"),
    ("duckdb spark redshift", f"price AS hour, hour AS h {ORDERS}", "h", "hour IDENTITY"),
    ("clickhouse", f"price AS hour, hour AS h {ORDERS}", "h", "price IDENTITY"),
    ("trino postgres", f"price * 2 AS p2, p2 + 1 AS p3 {ORDERS}", "p3", ""),
    ("duckdb postgres", f"price AS hour {ORDERS} ORDER BY abs(hour)", "*", "hour SORT"),
    ("trino spark mysql", f"price AS hour {ORDERS} ORDER BY abs(hour)", "*", "price SORT"),
    ("duckdb", "price AS p, p + 1 AS q FROM lake.sales.unknown", "q", "price TRANSFORMATION"),
    ("duckdb", "lower(name || nick) AS name, name || 'x' AS n FROM lake.sales.unknown", "n", "name TRANSFORMATION"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "selected", "column", "inputs"),
    [(dialect, *rest) for dialects, *rest in NAMES for dialect in dialects.split()],
)
def test_a_name_is_a_result_column_or_a_tables_column_depending_on_the_dialect(
    dialect: str, selected: str, column: str, inputs: str
) -> None:
    result = columns(lineage(f"SELECT {selected}", dialect))

    assert ", ".join(each.split(".")[1] for each in result[column]) == inputs


STATS = "lake.sales.stats"
ROW_INPUTS = [  # a statement of DuckDB, and the inputs of its rows
    (f"SELECT order_id, unnest([price, hour]) AS v {ORDERS}", "orders.hour JOIN, orders.price JOIN"),
    (f"SELECT order_id {ORDERS}, range(hour)", "orders.hour JOIN"),
    (f"SELECT supplier, count(hour) AS n {ORDERS} GROUP BY ALL", "orders.supplier GROUP_BY"),
    (f"SELECT supplier, hour {ORDERS} ORDER BY ALL LIMIT 3", "orders.hour SORT, orders.supplier SORT"),
    (f"SELECT hour {ORDERS} UNION ALL SELECT orders FROM {STATS} ORDER BY ALL LIMIT 3",
     "orders.hour SORT, stats.orders SORT"),
    (f"SELECT price AS a, hour AS a {ORDERS} ORDER BY 2 LIMIT 3", "orders.hour SORT"),
    (f"SELECT price AS hour {ORDERS} ORDER BY hour + 1 LIMIT 3", "orders.hour SORT"),
    (f"SELECT price AS p {ORDERS} ORDER BY p + 1 LIMIT 3", "orders.price SORT"),
    (f"SELECT supplier, sum(price) AS hour {ORDERS} GROUP BY supplier HAVING hour > 1",
     "orders.price FILTER, orders.supplier GROUP_BY"),
    (f"SELECT hour {ORDERS} LEFT JOIN ({STATS} s JOIN suppliers u ON s.orders = u.country) ON hour = s.orders",
     "orders.hour JOIN, stats.orders JOIN, suppliers.country JOIN"),
    (f"SELECT order_id {ORDERS} o SEMI JOIN (SELECT orders FROM {STATS} WHERE total_price > 1) s ON s.orders = o.hour",
     "orders.hour JOIN, stats.orders JOIN, stats.total_price FILTER"),
    (f"SELECT supplier FROM {STATS} UNPIVOT (v FOR k IN (total_price, orders))",
     "stats.orders FILTER, stats.total_price FILTER"),
    (f"SELECT supplier FROM {STATS} UNPIVOT INCLUDE NULLS (v FOR k IN (total_price, orders))", ""),
    (f"SELECT order_id {ORDERS} PIVOT (sum(price) FOR hour IN (1 AS h1) GROUP BY order_id) WHERE h1 > 1",
     "orders.hour FILTER, orders.order_id GROUP_BY, orders.price FILTER"),
    (f"SELECT v {ORDERS} UNPIVOT INCLUDE NULLS (v FOR k IN (price, hour)) p JOIN suppliers ON country = p.order_id",
     "orders.order_id JOIN, suppliers.country JOIN"),
    (f"SELECT 1 AS n FROM suppliers, LATERAL (SELECT v FROM {STATS} UNPIVOT (v FOR k IN (orders)) p WHERE country > v)",
     "stats.orders JOIN, suppliers.country JOIN"),
    (f"SELECT p.v FROM {STATS} UNPIVOT (v FOR k IN (orders)) p SEMI JOIN suppliers ON country = 'a'",
     "stats.orders FILTER, suppliers.country JOIN"),
    (f"SELECT p.v FROM {STATS} UNPIVOT (v FOR k IN (orders)) p"
     f" JOIN {STATS} UNPIVOT (v FOR k IN (total_price)) q ON p.v = q.v",
     "stats.orders FILTER, stats.orders JOIN, stats.total_price FILTER, stats.total_price JOIN"),
    ("WITH RECURSIVE suppliers AS (SELECT country FROM suppliers WHERE supplier > 'a') SELECT country FROM suppliers",
     "suppliers.supplier FILTER"),
    (f"SELECT 1 AS one FROM {STATS} WHERE COLUMNS(*) IS NOT NULL",
     "stats.orders FILTER, stats.supplier FILTER, stats.total_price FILTER"),
    (f"WITH w AS (SELECT hour, price {ORDERS}) SELECT b FROM w AS u (a, b) WHERE a > 1", "orders.hour FILTER"),
    (f"DELETE FROM {STATS} USING suppliers AS u WHERE u.country = stats.supplier",
     "stats.supplier FILTER, suppliers.country FILTER"),
    (f"MERGE INTO {STATS} t USING suppliers u ON t.orders = u.country"
     " WHEN NOT MATCHED AND supplier > 'a' THEN INSERT (supplier) VALUES (supplier)",
     "stats.orders JOIN, suppliers.country JOIN, suppliers.supplier FILTER"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "rows"), ROW_INPUTS)
def test_inputs_of_the_rows_are_found_in_every_clause(sql: str, rows: str) -> None:
    assert ", ".join(columns(lineage(sql, "duckdb"))["*"]) == rows


@pytest.mark.parametrize("value", ["s", "s.*", "s::VARCHAR"])
def test_a_tables_name_as_a_value_is_derived_from_all_its_columns(value: str) -> None:
    result = lineage(f"SELECT max({value}) AS top FROM {STATS} s", "duckdb")

    assert columns(result)["top"] == [
        "stats.orders AGGREGATION",
        "stats.supplier AGGREGATION",
        "stats.total_price AGGREGATION",
    ]
    assert result.gaps == ()


ROW_INPUTS_OF_DIALECTS = [  # inputs of the rows in clauses of only some dialects, or with a rare subquery
    ("spark", f"SELECT order_id {ORDERS} DISTRIBUTE BY supplier SORT BY hour LIMIT 3",
     "orders.hour SORT, orders.supplier SORT"),
    ("spark", f"SELECT hour AS h {ORDERS} CLUSTER BY h", "orders.hour SORT"),
    ("clickhouse", f"SELECT order_id {ORDERS} PREWHERE price > 1 WHERE hour > 1",
     "orders.hour FILTER, orders.price FILTER"),
    ("clickhouse", f"SELECT order_id {ORDERS} LIMIT 2 BY supplier", "orders.supplier FILTER"),
    ("clickhouse", f"SELECT order_id {ORDERS} ARRAY JOIN price, hour AS h", "orders.hour JOIN, orders.price JOIN"),
    ("oracle", f"SELECT order_id {ORDERS} START WITH hour = 1 CONNECT BY PRIOR price = order_id",
     "orders.hour FILTER, orders.order_id FILTER, orders.price FILTER"),
    ("postgres", f"SELECT hour {ORDERS} LIMIT (SELECT max(orders) FROM {STATS}) OFFSET (SELECT 1 FROM {STATS} WHERE"
     " supplier > 'a')", "stats.orders FILTER, stats.supplier FILTER"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "sql", "rows"), ROW_INPUTS_OF_DIALECTS)
def test_inputs_of_the_rows_are_found_in_clauses_of_dialects(dialect: str, sql: str, rows: str) -> None:
    folded = {tuple(part.lower() for part in table): names for table, names in TABLES.items()}

    result = statement(sql, dialect, lambda table: folded.get(tuple(part.lower() for part in table), ()))

    assert ", ".join(columns(result)["*"]).lower() == rows.lower()


@pytest.mark.parametrize(
    ("dialect", "value"),
    [
        ("spark", "to_json(struct(*))"),
        ("spark", "count(DISTINCT *)"),
        ("snowflake", "OBJECT_CONSTRUCT(*)"),
        ("snowflake", "hash(*)"),
        ("duckdb", "struct_pack(*)"),
    ],
)
def test_a_star_as_a_value_is_derived_from_all_columns(dialect: str, value: str) -> None:
    result = statement(f"SELECT {value} AS v, count(*) AS rows FROM s AS s", dialect, lambda _: ("price", "qty"))

    inputs, counted = ({source.column for source in sources} for sources in result.columns.values())
    assert (inputs, counted) == ({"price", "qty"}, set())
    assert result.gaps == ()


def test_an_item_with_several_columns_has_its_given_names() -> None:
    result = lineage(f"SELECT v + 1 AS w, n FROM (SELECT stack(2, 'p', price, 'h', hour) AS (n, v) {ORDERS})", "spark")

    inputs = ["orders.hour TRANSFORMATION", "orders.price TRANSFORMATION"]
    assert columns(result) == {"w": inputs, "n": inputs, "*": ["orders.hour JOIN", "orders.price JOIN"]}
    assert result.gaps == ()


def test_a_function_applied_to_each_column_of_a_star_is_a_gap() -> None:
    assert lineage(f"SELECT * APPLY (sum) {ORDERS}", "clickhouse").gaps == ("*",)


def test_a_function_defined_in_the_query_is_not_a_table() -> None:
    result = lineage(f"WITH FUNCTION twice(n bigint) RETURNS bigint RETURN n * 2 SELECT twice(price) AS p {ORDERS}")

    assert result.reads == (("lake", "sales", "orders"),)
    assert columns(result) == {"p": ["orders.price TRANSFORMATION"], "*": []}


def test_select_into_writes_its_target() -> None:
    result = lineage(f"SELECT price AS p INTO lake.sales.copy {ORDERS}", "postgres")

    assert (result.kind, result.target) == ("create", ("lake", "sales", "copy"))
    assert result.reads == (("lake", "sales", "orders"),)
    assert columns(result) == {"p": ["orders.price IDENTITY"], "*": []}


def test_select_into_of_a_set_operation_writes_its_target() -> None:
    result = lineage(f"SELECT price AS p INTO lake.sales.copy {ORDERS} UNION ALL SELECT hour {ORDERS}", "tsql")

    assert (result.kind, result.target) == ("create", ("lake", "sales", "copy"))
    assert result.reads == (("lake", "sales", "orders"),)
    assert columns(result) == {"p": ["orders.hour IDENTITY", "orders.price IDENTITY"], "*": []}


def test_a_merge_that_inserts_the_row_of_its_source_is_refused() -> None:
    merge = f"MERGE INTO {STATS} t USING suppliers s ON t.supplier = s.supplier WHEN NOT MATCHED THEN INSERT ROW"

    with pytest.raises(UnreadableSqlError, match="columns that its MERGE inserts"):
        lineage(merge, "bigquery")


@pytest.mark.parametrize("items", ["n.*, o.supplier", "o.supplier, n.*"])
def test_columns_next_to_a_star_of_unknown_width_have_no_known_position(items: str) -> None:
    result = lineage(f"INSERT INTO lake.sales.suppliers SELECT {items} {ORDERS} o CROSS JOIN lake.sales.unknown n")

    assert not any(result.columns.values())
    assert result.gaps == ("*",)


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_an_insert_by_name_matches_columns_by_name(dialect: str) -> None:
    sql = "INSERT INTO stats BY NAME SELECT hour AS orders, price AS total_price, supplier"

    assert columns(lineage(f"{sql} {ORDERS}", dialect)) == {
        "orders": ["orders.hour IDENTITY"],
        "total_price": ["orders.price IDENTITY"],
        "supplier": ["orders.supplier IDENTITY"],
        "*": [],
    }


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        (
            f"INSERT INTO {STATS} (supplier) SELECT supplier {ORDERS} ON CONFLICT (supplier) DO UPDATE SET orders = 1",
            "postgres",
        ),
        (f"UPDATE {STATS} SET (supplier, orders) = (SELECT supplier, hour {ORDERS})", "postgres"),
        (f"UPDATE {STATS} SET orders[1] = o.hour {ORDERS} AS o", "postgres"),
        (f"UPDATE {STATS} SET orders.first = o.hour {ORDERS} AS o WHERE TRUE", "bigquery"),
        (f"MERGE INTO {STATS} t USING suppliers s ON TRUE WHEN MATCHED THEN UPDATE SET t.orders.first = 1", "spark"),
        ("UPDATE stats t JOIN suppliers s ON s.supplier = t.supplier SET s.country = t.orders", "mysql"),
        ("DELETE s FROM stats AS t JOIN suppliers AS s ON s.supplier = t.supplier", "mysql"),
        ("DELETE t FROM stats AS t JOIN suppliers AS s ON s.supplier = t.supplier", "tsql"),
    ],
)
def test_unsupported_ways_to_write_columns_are_refused(sql: str, dialect: str) -> None:
    with pytest.raises(UnreadableSqlError, match=r"not supported|column = value"):
        lineage(sql, dialect)


def test_a_column_assigned_with_its_tables_alias_is_the_targets() -> None:
    result = lineage("UPDATE stats AS t SET t.orders = s.country FROM suppliers AS s", "bigquery")

    assert (result.target, columns(result)["orders"]) == (("stats",), ["suppliers.country IDENTITY"])


def test_a_star_over_a_column_with_the_name_of_a_using_column_is_a_gap() -> None:
    joined = f"{ORDERS} JOIN {STATS} s USING (supplier)"

    assert lineage(f"SELECT * {joined} JOIN suppliers u ON u.country = s.orders", "duckdb").gaps == ("*",)
    assert lineage(f"SELECT * {joined} JOIN suppliers u USING (supplier)", "duckdb").gaps == ()


def test_a_chain_of_stars_has_all_its_columns() -> None:
    links = "".join(f", {b} AS (SELECT *, hour + 1 AS {b}1 FROM {a})" for a, b in pairwise("abcdefghijklmnop"))
    joined = " UNION ALL SELECT p.*, s.orders FROM p JOIN lake.sales.stats AS s ON s.supplier = p.supplier"

    result = lineage(f"WITH a AS (SELECT *, 1 AS a1 {ORDERS}){links} SELECT *, 0 AS orders FROM p{joined}")

    assert [*result.columns] == [*TABLES["lake", "sales", "orders"], *(f"{a}1" for a in "abcdefghijklmnop"), "orders"]
    assert columns(result)["p1"] == ["orders.hour TRANSFORMATION"]
    assert columns(result)["orders"] == ["stats.orders IDENTITY"]
    assert result.gaps == ()


def test_columns_by_a_pattern_are_a_gap() -> None:
    assert lineage(f"SELECT COLUMNS('^pri') {ORDERS}", "duckdb").gaps == ("*",)


def test_an_ambiguous_name_is_a_gap() -> None:
    result = lineage(f"SELECT s.orders AS n, supplier FROM {STATS} s JOIN {STATS} t ON s.orders = t.orders", "duckdb")

    assert columns(result)["supplier"] == ["stats.supplier IDENTITY"]
    assert result.gaps == ("supplier",)


def test_a_chain_of_references_to_result_columns_is_resolved_once_each() -> None:
    chain = ", ".join(f"{a} + {a} AS {b}" for a, b in pairwise(["price", *(f"p{at}" for at in range(60))]))

    assert columns(lineage(f"SELECT {chain} {ORDERS}", "duckdb"))["p59"] == ["orders.price TRANSFORMATION"]


def test_a_name_that_is_not_a_column_of_a_known_table_is_a_gap() -> None:
    result = lineage(f"SELECT nothing, price {ORDERS} WHERE hour = other")

    assert columns(result) == {"nothing": [], "price": ["orders.price IDENTITY"], "*": ["orders.hour FILTER"]}
    assert result.gaps == ("nothing",)


def test_a_column_has_its_tables_spelling() -> None:
    result = statement(
        "SELECT unitprice AS p, ITEM FROM a.b.c", "trino", lambda _: ("Item", "unitPrice"), INTAKE_BOUNDS
    )

    assert columns(result) == {"p": ["c.unitPrice IDENTITY"], "item": ["c.Item IDENTITY"], "*": []}


@pytest.mark.parametrize("dialect", ["duckdb", "spark", "bigquery"])
def test_unpivot_derives_one_column_from_several(dialect: str) -> None:
    result = lineage(
        "SELECT supplier, k, v FROM lake.sales.stats UNPIVOT (v FOR k IN (total_price, orders)) AS u", dialect
    )

    assert columns(result) == {
        "supplier": ["stats.supplier IDENTITY"],
        "k": [],
        "v": ["stats.orders TRANSFORMATION", "stats.total_price TRANSFORMATION"],
        "*": ["stats.orders FILTER", "stats.total_price FILTER"],
    }
    assert result.gaps == ()


@pytest.mark.parametrize("pivoted", ["lake.sales.orders", "(SELECT * FROM lake.sales.orders) AS o"])
def test_pivot_derives_columns_from_the_aggregated_and_the_pivot_column(pivoted: str) -> None:
    result = lineage(f"SELECT * FROM {pivoted} PIVOT (sum(price) FOR hour IN (1 AS h1, 2 AS h2)) AS p", "duckdb")

    assert columns(result) == {
        "order_id": ["orders.order_id IDENTITY"],
        "supplier": ["orders.supplier IDENTITY"],
        "h1": ["orders.hour CONDITIONAL", "orders.price AGGREGATION"],
        "h2": ["orders.hour CONDITIONAL", "orders.price AGGREGATION"],
        "*": ["orders.order_id GROUP_BY", "orders.supplier GROUP_BY"],
    }
    assert result.gaps == ()


def test_a_hash_stays_masked_through_a_subquery() -> None:
    result = lineage("SELECT concat(h, '!') AS shown FROM (SELECT md5(supplier) AS h FROM suppliers) AS s")

    assert [source.how for source in result.columns["shown"]] == [Transformation("DIRECT", "TRANSFORMATION", True)]


def test_a_union_by_name_is_incomplete_where_a_branch_is() -> None:
    known_too = "SELECT supplier, country FROM suppliers UNION BY NAME"

    assert lineage(f"{known_too} SELECT f.price AS country FROM read_csv('x') AS f", "duckdb").gaps == ("*", "country")
    assert lineage(f"{known_too} SELECT * FROM unknown", "duckdb").gaps == ("*", "country", "supplier")


def test_a_star_over_an_unknown_table_is_a_gap() -> None:
    assert lineage("SELECT * FROM lake.sales.unknown").gaps == ("*",)


@pytest.mark.parametrize("clauses", ["ORDER BY 1", "GROUP BY 1, 2 ORDER BY 2 DESC", "ORDER BY hour, 7"])
def test_positions_in_a_star_over_an_unknown_table_hide_no_table(clauses: str) -> None:
    result = lineage(f"SELECT * FROM lake.sales.unknown {clauses}")

    assert result.reads == (("lake", "sales", "unknown"),)
    assert result.gaps == ("*",)
    assert columns(result)["*"] == (["unknown.hour SORT"] if "hour" in clauses else [])


def test_a_column_of_a_table_function_is_a_gap() -> None:
    assert lineage("SELECT price FROM TABLE(lake.system.query(query => 'x'))").gaps == ("*", "price")


@pytest.mark.parametrize(
    ("dialect", "sql", "gaps"),
    [
        ("tsql", "SELECT s.country FROM suppliers AS s, OPENQUERY(far, 'SELECT 1 AS x') AS q", ("*",)),
        ("tsql", "SELECT s.country FROM suppliers s, OPENDATASOURCE('a', 'b').shop.dbo.orders AS o", ("*",)),
        ("tsql", "SELECT s.country, v.price FROM suppliers AS s, @prices AS v", ("*", "price")),
        ("postgres", "SELECT country FROM suppliers WHERE EXISTS (SELECT 1 FROM dblink('a', 'b') AS d)", ("*",)),
        ("clickhouse", "SELECT s.country FROM suppliers AS s, remote('far', shop.orders) AS o", ("*",)),
        ("duckdb", "SELECT s.country, o.price FROM suppliers AS s, 's3://lake/*.parquet' AS o", ("*", "price")),
        ("duckdb", "SELECT s.country FROM suppliers AS s, 'orders.parquet' AS o", ("*",)),
        ("duckdb", 'SELECT s.country FROM suppliers AS s, "orders.csv.gz"', ("*",)),
        ("spark", "SELECT s.country, o.price FROM suppliers AS s, parquet.`/lake/orders` AS o", ("*", "price")),
        ("databricks", "SELECT s.country FROM suppliers AS s, Delta.`dbfs:/lake/orders`", ("*",)),
        ("tsql", "SELECT s.country, o.price FROM suppliers AS s, far.shop.dbo.orders AS o", ("*", "price")),
        ("tsql", "SELECT s.country FROM suppliers AS s, far.shop..orders AS o", ("*",)),
        ("clickhouse", "SELECT country, dictGet('shop.d', 'price', supplier) AS price FROM suppliers", ("*", "price")),
        ("clickhouse", "SELECT country FROM suppliers WHERE dictHas('shop.d', supplier)", ("*",)),
        ("clickhouse", "SELECT joinGetOrNull(shop.j, 'price', supplier) AS price FROM suppliers", ("*", "price")),
        ("clickhouse", "SELECT s.country FROM suppliers AS s, (SELECT * FROM dictionary('shop.d'))", ("*",)),
        ("postgres", "SELECT country, query_to_xml('TABLE orders', true, false, '') AS o FROM suppliers", ("*", "o")),
        ("oracle", "SELECT country, dbms_xmlgen.getxml('SELECT 1 FROM orders') AS o FROM suppliers", ("*", "O")),
        ("postgres", "SELECT country, nextval('orders_id') AS n FROM suppliers", ()),
        ("trino", "SELECT s.country FROM suppliers s, TABLE(exclude_columns(input => TABLE(stats))) o", ("*",)),
        ("duckdb", "SELECT s.country FROM suppliers AS s, read_parquet('orders.parquet')", ("*",)),
        ("snowflake", "SELECT $1, s.$2 AS price FROM @stage/orders.csv AS s WHERE $3 > 1", ("*", "PRICE", "_COL_0")),
        ("snowflake", "SELECT $1 AS first FROM suppliers", ("FIRST",)),
        ("snowflake", "SELECT price FROM IDENTIFIER($orders)", ("*", "PRICE")),
        ("snowflake", "SELECT price FROM TABLE($orders)", ("*", "PRICE")),
        ("snowflake", "SELECT IDENTIFIER($name) AS named FROM suppliers", ("NAMED",)),
        ("databricks", "SELECT country FROM suppliers JOIN IDENTIFIER(:a || '.orders')", ("*",)),
        ("databricks", "SELECT IDENTIFIER(:name) AS named FROM suppliers", ("named",)),
        ("databricks", "SELECT country FROM suppliers, range(3)", ()),
        ("oracle", "SELECT s.country, o.price FROM suppliers s, orders@far.example o", ("*", "PRICE")),
        ("oracle", 'SELECT country FROM "sup@pliers"', ()),
        ("tsql", "SELECT country FROM sup@pliers", ()),
        ("tsql", "SELECT s.country, o.price, g.hour FROM suppliers s, #orders o, ##g AS g", ("*", "hour", "price")),
        ("trino", "SELECT country FROM suppliers, TABLE(sequence(1, 3))", ()),
        ("tsql", "SELECT s.country FROM suppliers AS s, OPENJSON('[1]') AS o, STRING_SPLIT('a,b', ',') AS p", ()),
        ("snowflake", "SELECT s.country FROM suppliers AS s, TABLE(own_split(s.supplier)) AS o", ()),
        ("postgres", "SELECT country FROM suppliers WHERE supplier = $1", ()),
        ("postgres", "SELECT country FROM suppliers, jsonb_array_elements_text(country) AS e", ()),
    ],
)
def test_a_source_or_a_column_without_a_name_is_a_gap(dialect: str, sql: str, gaps: tuple[str, ...]) -> None:
    assert lineage(sql, dialect).gaps == gaps


@pytest.mark.parametrize("dialect", ["databricks", "snowflake", "spark"])
@pytest.mark.parametrize(
    ("sql", "reads", "target"),
    [
        ("SELECT o.price FROM IDENTIFIER('sales.orders') AS o", ("sales.orders",), None),
        ("SELECT IDENTIFIER('price') FROM identifier('sales.orders') WHERE o.hour > 1", ("sales.orders",), None),
        ("INSERT INTO IDENTIFIER('sales.dear') SELECT price FROM sales.orders", ("sales.orders",), "sales.dear"),
        ("CREATE TABLE IDENTIFIER('sales.dear') AS SELECT price FROM sales.orders", ("sales.orders",), "sales.dear"),
        ("UPDATE IDENTIFIER('sales.orders') SET price = hour", (), "sales.orders"),
        ("DELETE FROM IDENTIFIER('sales.orders') WHERE price IN (SELECT 1 FROM dear)", ("dear",), "sales.orders"),
    ],
)
def test_a_literal_in_an_identifier_clause_is_a_name(
    dialect: str, sql: str, reads: tuple[str, ...], target: str | None
) -> None:
    result = lineage(sql, dialect)

    assert tuple(".".join(table).lower() for table in result.reads) == reads
    assert target == (None if result.target is None else ".".join(result.target).lower())
    if target is None:
        assert [source.column.lower() for sources in result.columns.values() for source in sources] == ["price"]


@pytest.mark.parametrize("dialect", ["bigquery", "redshift"])
def test_an_array_of_an_outer_query_is_no_table(dialect: str) -> None:
    within = "SELECT 1 FROM O.tags AS tag WHERE tag.id > 1"

    result = lineage(f"SELECT o.names FROM lake.sales.tagged AS o WHERE EXISTS ({within})", dialect)

    assert result.reads == (("lake", "sales", "tagged"),)
    assert columns(result) == {"names": ["tagged.names IDENTITY"], "*": ["tagged.tags FILTER", "tagged.tags JOIN"]}


@pytest.mark.parametrize(
    "call",
    [
        "ML.PREDICT(MODEL `acme.ai.trend`, TABLE `acme.raw.orders`)",
        "ML.GENERATE_EMBEDDING(MODEL ai.trend, TABLE `acme.raw.orders`)",
    ],
)
def test_a_model_that_a_function_applies_is_no_table(call: str) -> None:
    result = lineage(f"SELECT * FROM {call}", "bigquery")

    assert result.reads == (("acme", "raw", "orders"),)


def test_what_a_generating_function_in_select_is_given_is_no_table() -> None:
    result = lineage("SELECT AI.GENERATE_BOOL(name) AS is_late FROM raw.orders", "bigquery")

    assert result.reads == (("raw", "orders"),)
    assert columns(result)["is_late"] == ["orders.name TRANSFORMATION"]


def test_a_literal_in_snowflakes_table_is_a_name() -> None:
    result = lineage("SELECT o.price FROM TABLE('sales.orders') AS o JOIN suppliers ON TRUE", "snowflake")

    assert result.reads == (("SALES", "ORDERS"), ("SUPPLIERS",))
    assert columns(result)["PRICE"] == ["ORDERS.price IDENTITY"]


def test_a_function_named_by_a_literal_is_no_column() -> None:
    result = lineage("SELECT IDENTIFIER('max')(price) AS top FROM sales.orders", "snowflake")

    assert columns(result)["TOP"] == ["ORDERS.price TRANSFORMATION"]


def test_an_unnamed_column_has_trinos_name_by_position() -> None:
    items = "count(*), CAST(hour AS VARCHAR), hour, (price), price + 1, (SELECT 1) AS one, supplier || 'x'"

    outer = lineage(f"SELECT {items} FROM lake.sales.orders")
    inner = lineage("SELECT a._col1 AS top FROM (SELECT supplier, max(price) FROM lake.sales.orders GROUP BY 1) a")

    assert [*columns(outer)] == ["_col0", "_col1", "hour", "price", "_col4", "one", "_col6", "*"]
    assert columns(outer)["_col1"] == ["orders.hour TRANSFORMATION"]
    assert columns(inner)["top"] == ["orders.price AGGREGATION"]
    assert [*columns(lineage("SELECT CAST(hour AS TEXT) FROM lake.sales.orders", "postgres"))] == ["hour", "*"]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT lake.sales.orders.price AS a, old.sales.orders.price AS b FROM lake.sales.orders"
            " JOIN old.sales.orders ON lake.sales.orders.hour = old.sales.orders.price",
            {
                "a": ["lake.sales.orders.price"],
                "b": ["old.sales.orders.price"],
                "*": ["lake.sales.orders.hour", "old.sales.orders.price"],
            },
        ),
        (
            "SELECT (SELECT max(price) FROM old.sales.orders WHERE orders.price < lake.sales.orders.hour) AS a,"
            " orders.supplier AS b FROM lake.sales.orders",
            {
                "a": ["lake.sales.orders.hour", "old.sales.orders.price"],
                "b": ["lake.sales.orders.supplier"],
                "*": [],
            },
        ),
        (
            "SELECT supplier AS a, orders.price AS gap FROM lake.sales.orders, old.sales.orders",
            {"a": ["lake.sales.orders.supplier"], "gap": [], "*": []},
        ),
        (
            "MERGE INTO lake.sales.orders USING old.sales.orders ON lake.sales.orders.hour ="
            " old.sales.orders.price WHEN MATCHED THEN UPDATE SET price = old.sales.orders.price",
            {
                "price": ["old.sales.orders.price"],
                "*": ["lake.sales.orders.hour", "old.sales.orders.price"],
            },
        ),
    ],
)
def test_tables_of_one_name_in_several_schemas_are_told_apart(sql: str, expected: dict[str, list[str]]) -> None:
    result = lineage(sql)

    found = {**result.columns, "*": result.rows}
    assert expected == {
        name: sorted({f"{'.'.join(s.table)}.{s.column}" for s in sources}) for name, sources in found.items()
    }
    assert result.gaps == (("gap",) if "gap" in expected else ())


@pytest.mark.parametrize(
    ("sql", "sorts"),
    [
        ("(SELECT supplier FROM lake.sales.orders) ORDER BY price LIMIT 3", ["orders.price SORT"]),
        (
            "(SELECT supplier FROM lake.sales.orders ORDER BY price LIMIT 9) ORDER BY supplier LIMIT 3",
            ["orders.price SORT", "orders.supplier SORT"],
        ),
        (
            "((SELECT supplier FROM lake.sales.orders) UNION ALL (SELECT country FROM suppliers)) ORDER BY 1 LIMIT 3",
            ["orders.supplier SORT", "suppliers.country SORT"],
        ),
        (
            "WITH o AS ((SELECT supplier FROM lake.sales.orders) ORDER BY price LIMIT 3) SELECT supplier FROM o",
            ["orders.price SORT"],
        ),
        (
            "WITH o AS (SELECT supplier FROM lake.sales.orders) (SELECT supplier FROM o) ORDER BY supplier LIMIT 3",
            ["orders.supplier SORT"],
        ),
    ],
)
def test_a_query_in_parentheses_is_sorted_by_what_follows_them(sql: str, sorts: list[str]) -> None:
    result = lineage(sql, "postgres")

    assert columns(result)["*"] == sorts
    assert "orders.supplier IDENTITY" in columns(result)["supplier"]
    assert result.gaps == ()


def test_duckdb_reads_the_same_text_the_same_way() -> None:
    sql = "SELECT supplier, sum(price) AS total FROM lake.sales.orders GROUP BY ALL"

    assert columns(lineage(sql, "duckdb"))["total"] == ["orders.price AGGREGATION"]


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("SELECT " + "1," * INTAKE_BOUNDS.characters + "1", "longer than"),
        ("SELECT " + "+".join("1" * INTAKE_BOUNDS.tokens), "more than"),
        ("SELECT " + "(" * DEEPEST + "(1)" + ")" * DEEPEST, "nested deeper"),
        ("SELECT " + "- " * DEEPEST + "- 1", "nested deeper"),
        ("SELECT 1 FROM lake.sales.orders" + " CROSS JOIN lake.sales.orders" * 40, "references to tables"),
        (
            "WITH a AS (SELECT * FROM lake.sales.orders x JOIN lake.sales.orders y USING (hour)),"
            + "".join(f" {b} AS (SELECT * FROM {a} x JOIN {a} y USING (hour))," for a, b in pairwise("abcdefghijkl"))
            + " m AS (SELECT 1) SELECT * FROM l",
            "stars",
        ),
        ("SELECT price FROM lake.sales.wide" + " NATURAL JOIN lake.sales.wide" * 3, "joins"),
        (
            "WITH a AS (SELECT " + ", ".join(f"{at} AS c{at}" for at in range(150)) + " FROM lake.sales.orders)"
            " SELECT c1 FROM a" + "".join(f" NATURAL JOIN a b{at}" for at in range(9)),
            "joins",
        ),
        (
            "SELECT price FROM lake.sales.orders"
            + " JOIN lake.sales.orders USING (supplier, price, hour, order_id, supplier, price, hour, order_id)" * 36,
            "joins",
        ),
        (
            "SELECT " + "hour, " * 600 + "1 FROM lake.sales.orders" + " JOIN lake.sales.orders USING (hour)" * 9,
            "joins",
        ),
        (
            "SELECT 1 FROM lake.sales.wide AS x (a)" + "".join(f", lake.sales.wide AS y{at} (a)" for at in range(2)),
            "stars",
        ),
        ("SELECT wide, " + "count(wide), " * 9 + "1 FROM lake.sales.wide", "rows used as values"),
        ("SELECT " + "hash(*), " * 9 + "1 FROM lake.sales.wide", "rows used as values"),
        (
            "SELECT 1 FROM lake.sales.wide" + "".join(f", lake.sales.wide{at}" for at in range(30)),
            "tables have more than",
        ),
        ("SELECT 1; SELECT 2", "one statement"),
        ("", "one statement"),
        ("SELEKT 1 FROM", "not supported|cannot parse"),
        (
            "SELECT p FROM lake.sales.orders MATCH_RECOGNIZE (ORDER BY hour MEASURES A.price AS p PATTERN (A)"
            " DEFINE A AS A.price > 1)",
            "MATCH_RECOGNIZE",
        ),
        (
            "MERGE INTO lake.sales.stats t USING lake.sales.orders o ON t.supplier = o.supplier"
            " WHEN NOT MATCHED THEN INSERT VALUES (o.supplier)",
            "columns that its MERGE inserts",
        ),
        ("GRANT SELECT ON lake.sales.orders TO ann", "not supported"),
    ],
)
def test_statements_beyond_the_limits_or_unsupported_are_refused(sql: str, fault: str) -> None:
    with pytest.raises(UnreadableSqlError, match=fault):
        lineage(sql)


def test_a_statements_target_is_not_its_common_table_of_that_name() -> None:
    result = lineage(
        "INSERT INTO stats WITH stats AS (SELECT supplier, price, hour FROM lake.sales.orders) SELECT * FROM stats"
    )

    assert result.target == ("stats",)
    assert result.reads == (("lake", "sales", "orders"),)
    assert columns(result)["total_price"] == ["orders.price IDENTITY"]


@pytest.mark.parametrize("dialect", ["snowflake", "oracle", "exasol"])
def test_names_that_a_dialect_folds_to_upper_case_match_the_known_columns(dialect: str) -> None:
    result = lineage("SELECT o.supplier, max(price) AS top FROM sales.orders o GROUP BY o.supplier", dialect)

    assert columns(result) == {
        "SUPPLIER": ["ORDERS.supplier IDENTITY"],
        "TOP": ["ORDERS.price AGGREGATION"],
        "*": ["ORDERS.supplier GROUP_BY"],
    }


@pytest.mark.parametrize("dialect", ["postgres", "trino", "duckdb", "spark"])
def test_a_column_in_mixed_case_is_the_known_one(dialect: str) -> None:
    quote = "`" if dialect == "spark" else '"'

    result = lineage(f"SELECT c.{quote}orderId{quote} AS id, Price AS p FROM public.camel c", dialect)

    assert columns(result) == {"id": ["camel.orderId IDENTITY"], "p": ["camel.price IDENTITY"], "*": []}


def test_a_star_in_postgres_has_the_tables_spelling() -> None:
    assert [*lineage("SELECT * FROM public.camel", "postgres").columns] == ["orderId", "price"]


def test_a_table_on_another_server_is_not_one_of_this_server() -> None:
    result = lineage("SELECT price FROM away.lake.sales.orders", "tsql")

    assert (result.reads, result.gaps) == ((), ("*", "price"))


@pytest.mark.parametrize("dialect", ["clickhouse", "sqlite"])
def test_a_name_after_in_is_a_table_in_some_dialects(dialect: str) -> None:
    result = lineage("SELECT total_price FROM stats WHERE supplier NOT IN lake.sales.suppliers", dialect)

    assert result.reads == (("stats",), ("lake", "sales", "suppliers"))
    assert columns(result)["*"] == ["stats.supplier FILTER", "suppliers.country FILTER", "suppliers.supplier FILTER"]


@pytest.mark.parametrize(
    "sql",
    [
        "WITH (SELECT groupArray(supplier) FROM suppliers) AS ids SELECT orders FROM stats WHERE supplier IN ids",
        "WITH ids AS (SELECT supplier FROM suppliers) SELECT orders FROM stats WHERE supplier IN ids",
        "SELECT orders FROM stats, suppliers WHERE stats.supplier IN suppliers.country",
        "SELECT orders, [1, 2] AS ids FROM stats WHERE orders IN ids AND supplier IN suppliers",
    ],
)
def test_a_name_after_in_may_be_a_value_or_a_common_table(sql: str) -> None:
    assert set(lineage(sql, "clickhouse").reads) == {("stats",), ("suppliers",)}


def test_a_recursive_common_table_needs_no_keyword_in_some_dialects() -> None:
    sql = (
        "WITH h AS (SELECT supplier, price FROM sales.orders UNION ALL"
        " SELECT o.supplier, h.price FROM sales.orders o JOIN h ON h.supplier = o.supplier) SELECT price FROM h"
    )

    assert columns(lineage(sql, "snowflake"))["PRICE"] == ["ORDERS.price IDENTITY"]


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("UPDATE lake..stats SET orders = 1", "trino"),
        ("MERGE INTO lake..stats t USING stats s ON 1 = 1 WHEN MATCHED THEN DELETE", "trino"),
        ("SELECT price FROM lake..orders", "snowflake"),
        ("SELECT count(*) AS n FROM stats WHERE EXISTS (SELECT 1 FROM lake..orders)", "tsql"),
    ],
)
def test_a_table_without_its_schema_is_refused_since_its_dataset_is_unknown(sql: str, dialect: str) -> None:
    with pytest.raises(UnreadableSqlError, match="no schema between two dots"):
        lineage(sql, dialect)


def test_an_error_that_nobody_expects_is_an_error_of_the_text_without_its_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    with (
        pytest.raises(UnreadableSqlError, match=r"^cannot parse it \(KeyError\)$"),
        sqlglot_errors_as("cannot parse it"),
    ):
        raise KeyError("secret")

    (logged,) = caplog.records
    assert vars(logged)["error"] == "KeyError"
    assert vars(logged)["place"].startswith("test_an_error_that_nobody_expects")
    assert "secret" not in caplog.text


def test_a_memory_error_is_not_an_error_of_the_text() -> None:
    with pytest.raises(MemoryError), sqlglot_errors_as("cannot parse it"):
        raise MemoryError


def test_an_error_of_the_columns_lookup_is_raised_unchanged() -> None:
    def unavailable(_: Parts) -> tuple[str, ...]:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        statement("SELECT price FROM lake.sales.orders", "trino", unavailable)


@pytest.mark.parametrize("end", [";", "; -- end", ";;\n/* end */ ;"])
def test_text_after_the_semicolon_that_is_not_a_statement_is_ignored(end: str) -> None:
    assert lineage(f"SELECT price FROM lake.sales.orders{end}") == lineage("SELECT price FROM lake.sales.orders")


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(UnreadableSqlError, match=r"unknown dialect 'acme'; expected one of athena, .*, trino"):
        statement("SELECT 1", "acme", lambda _: ())
