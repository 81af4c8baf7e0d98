"""Tables of databases that Spark reads, by the text that names them."""

from datetime import UTC, datetime

import pytest

from headwater.capture.spark.action import Action, learn_plan
from headwater.capture.spark.reading import Read, described
from headwater.model.names import DatasetId
from headwater.observe.guard import Guard
from headwater.observe.spark.relations import Relation

SHOP = "jdbc:postgresql://db/shop"
SERVER = "jdbc:sqlserver://db;databaseName=shop"
_UNNAMED_TARGET = "SaveIntoDataSourceCommand does not identify a dataset"


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
    ("url", "text", "named", "unknown"),
    [
        (SERVER, "(SELECT id FROM dbo.orders) q", 1, []),
        (SERVER, "(SELECT o.id FROM dbo.orders o, OPENQUERY(far, 'SELECT id FROM bids') b) q", 1, ["LogicalRelation"]),
        (SERVER, "OPENQUERY(far, 'SELECT id FROM bids') q", 0, ["LogicalRelation"]),
        (SERVER, "far.shop.dbo.orders o", 0, ["LogicalRelation"]),
        (SERVER, "far.shop.dbo.orders", 0, ["LogicalRelation"]),
        (SERVER, "shop.dbo.order-items", 1, []),
        ("jdbc:oracle:thin:@//db:1521/shop", "orders@far", 0, ["LogicalRelation"]),
        ("jdbc:duckdb:/data/shop.db", "'orders.parquet'", 0, ["LogicalRelation"]),
        ("jdbc:databricks://db", "(SELECT id FROM csv.`s3://lake/orders`) q", 0, ["LogicalRelation"]),
        ("jdbc:duckdb:/data/shop.db", "(SELECT id FROM 's3://lake/orders.parquet') q", 0, ["LogicalRelation"]),
        ("jdbc:ch://db/shop", "(SELECT dictGet('d', 'id', number) FROM numbers(3)) q", 0, ["LogicalRelation"]),
    ],
)
def test_a_query_that_reads_more_than_it_names_is_a_gap(url: str, text: str, named: int, unknown: list[str]) -> None:
    class Leaf:
        def productPrefix(self) -> str:
            return "LogicalRelation"

        def schema(self) -> "Leaf":
            return self

        def json(self) -> str:
            return '{"type": "struct", "fields": []}'

    read = Read()

    read.take(Relation(1, f"jdbc:{url}\n{text}", leaf=Leaf()), session=None)

    assert len(read.distinct()) == named
    assert read.unknown == unknown


@pytest.mark.parametrize(
    ("url", "text", "names", "gaps"),
    [
        (SERVER, "dbo.orders", ["shop.dbo.orders"], []),
        (SERVER, "far.shop.dbo.orders", [], [_UNNAMED_TARGET]),
        ("jdbc:oracle:thin:@//db:1521/shop", "orders@far", [], [_UNNAMED_TARGET]),
    ],
)
def test_a_write_to_a_table_that_is_not_of_the_database_is_a_gap(
    url: str, text: str, names: list[str], gaps: list[str]
) -> None:
    action = Action(called="save", number=1, kind="", started_at=datetime.now(UTC))

    learn_plan(action, _Saving({"url": url, "dbtable": text}), Guard())

    assert [each.id.name for each in action.outputs()] == names
    assert [gap for gap in action.gaps if "identify" in gap] == gaps


class _Saving:
    """The execution of a `save()` with these options, as far as its target."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def analyzed(self) -> "_Saving":
        return self

    def sparkSession(self) -> None:
        return None

    def query(self) -> "_Saving":
        return self

    def schema(self) -> "_Saving":
        return self

    def json(self) -> str:
        return '{"type": "struct", "fields": []}'

    def productPrefix(self) -> str:
        return "SaveIntoDataSourceCommand"

    def options(self) -> "_Saving":
        return self

    def get(self, key: str) -> "_Option":
        return _Option(self._options.get(key))


class _Option:
    def __init__(self, value: str | None) -> None:
        self.get = lambda: value
        self.isDefined = lambda: value is not None
