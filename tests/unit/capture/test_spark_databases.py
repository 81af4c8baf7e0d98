"""Tables of databases that Spark reads, by the text that names them."""

import pytest

from headwater.capture.spark.reading import Read, described
from headwater.model.names import DatasetId
from headwater.observe.spark.relations import Relation

SHOP = "jdbc:postgresql://db/shop"


@pytest.mark.parametrize(
    ("url", "text", "names"),
    [
        (SHOP, "Orders", ["shop.public.orders"]),
        (SHOP, '"Orders"', ["shop.public.Orders"]),
        (SHOP, "order-items", ["shop.public.order-items"]),
        (SHOP, "sales.orders AS o", ["shop.sales.orders"]),
        (SHOP, "orders o JOIN bids b ON o.id = b.id", ["shop.public.orders", "shop.public.bids"]),
        (SHOP, "(SELECT id FROM orders) SPARK_GEN_SUBQ_0", ["shop.public.orders"]),
        (SHOP, "(SELECT 1)x", []),
        ("jdbc:mysql://db/shop", "(SELECT `id` FROM `Orders`) q", ["shop.Orders"]),
        ("jdbc:aws-wrapper:mysql://db/shop", "(SELECT `id` FROM `Orders`) q", ["shop.Orders"]),
        ("jdbc:jtds:sqlserver://db;databaseName=shop", "(SELECT [id] FROM [Orders]) q", ["shop.dbo.Orders"]),
        ("jdbc:ch://db/shop", "(SELECT id FROM `Orders` FINAL) q", ["shop.Orders"]),
        ("jdbc:impala://db/shop", "(SELECT `id` FROM sales.`Orders`) q", ["shop.sales.Orders"]),
        ("jdbc:sqlserver://db;databaseName={my shop}", "dbo.orders", ["my shop.dbo.orders"]),
        ("jdbc:sqlserver://db;databaseName=shop", "old..orders", ["old.dbo.orders"]),
        ("jdbc:sqlserver://db;databaseName=shop", "old..orders AS o", ["old.dbo.orders"]),
        ("jdbc:sqlite:/data/my shop.db", "[order items]", ["order items"]),
        ("jdbc:databricks://db", "(SELECT id FROM IDENTIFIER('sales.orders')) q", ["sales.orders"]),
    ],
)
def test_the_tables_of_a_read_are_named_by_its_text(url: str, text: str, names: list[str]) -> None:
    found = described(Relation(1, f"jdbc:{url}\n{text}"), session=None)

    assert [each.id.name for each in found] == names


def test_a_file_of_a_database_may_have_a_space_in_its_path() -> None:
    (table,) = described(Relation(1, "jdbc:jdbc:sqlite:/data/my shop.db\norders"), session=None)

    assert table.id == DatasetId("sqlite:/data/my shop.db", "orders")
    assert table.facets["dataSource"].uri == "sqlite:/data/my%20shop.db"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("(SELECT id FROM dbo.orders) q", []),
        ("(SELECT o.id FROM dbo.orders o, OPENQUERY(far, 'SELECT id FROM bids') b) q", ["LogicalRelation"]),
        ("OPENQUERY(far, 'SELECT id FROM bids') q", ["LogicalRelation"]),
    ],
)
def test_a_query_that_reads_more_than_it_names_is_a_gap(text: str, unknown: list[str]) -> None:
    class Leaf:
        def productPrefix(self) -> str:
            return "LogicalRelation"

        def schema(self) -> "Leaf":
            return self

        def json(self) -> str:
            return '{"type": "struct", "fields": []}'

    read = Read()

    read.take(Relation(1, f"jdbc:jdbc:sqlserver://db;databaseName=shop\n{text}", leaf=Leaf()), session=None)

    assert read.unknown == unknown
