"""Tables of Flink are named by the data that their connectors access, as other engines name it."""

from typing import Any

import pytest

from headwater.capture.flink.tables import UnnamedTableError, datasets
from headwater.model.names import DatasetId

_COLUMNS = [
    {"name": "id", "type": "BIGINT", "persisted": True, "computed": False, "comment": "of the order"},
    {"name": "at", "type": "TIMESTAMP_LTZ(3)", "persisted": False, "computed": True},
]


def _table(**options: str) -> dict[str, Any]:
    renamed = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return {"name": ["default_catalog", "default_database", "t"], "options": renamed, "columns": _COLUMNS}


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (
            _table(connector="kafka", properties__bootstrap__servers="Broker:9092,b:9092", topic="orders; returns"),
            [("kafka://broker:9092", "orders"), ("kafka://broker:9092", "returns")],
        ),
        (
            _table(connector="upsert-kafka", properties__bootstrap__servers="broker", topic="totals"),
            [("kafka://broker:9092", "totals")],
        ),
        (_table(connector="filesystem", path="s3a://lake/in/", format="csv"), [("s3://lake", "in")]),
        (
            _table(connector="jdbc", url="jdbc:postgresql://ann:s3cret@db/shop", table_name="orders"),
            [("postgres://db:5432", "shop.public.orders")],
        ),
        (
            _table(connector="mysql-cdc", hostname="db", database_name="shop", table_name="orders"),
            [("mysql://db:3306", "shop.orders")],
        ),
        (
            _table(connector="mysql-cdc", hostname="db", database_name="my-app", table_name="orders.v1-eu$_2"),
            [("mysql://db:3306", "my-app.orders.v1-eu$_2")],
        ),
        (
            _table(
                connector="postgres-cdc", hostname="db", database_name="shop", schema_name="sales", table_name="Orders"
            ),
            [("postgres://db:5432", "shop.sales.Orders")],
        ),
        (
            _table(connector="sqlserver-cdc", hostname="db", database_name="shop", table_name="dbo.orders"),
            [("mssql://db:1433", "shop.dbo.orders")],
        ),
        (_table(connector="datagen"), []),
        (_table(connector="blackhole"), []),
    ],
    ids=lambda value: value["options"]["connector"] if isinstance(value, dict) else None,
)
def test_a_table_has_the_name_of_the_data_that_its_connector_accesses(
    table: dict[str, Any], names: list[tuple[str, str]]
) -> None:
    assert [each.id for each in datasets(table)] == [DatasetId(*name) for name in names]


def test_an_iceberg_table_has_the_names_that_spark_reports() -> None:
    """Written by hand: the location, and the names in the catalog and in the warehouse."""
    table = {
        "name": ["lake", "sales", "orders"],
        "options": {"connector": "iceberg"},
        "columns": _COLUMNS,
        "iceberg": {
            "location": "file:///data/lake/sales/orders",
            "format": None,
            "table": "lake.sales.orders",
            "catalog": {
                "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
                "uri": "jdbc:sqlite:/data/c.db",
                "warehouse": "file:///data/lake",
            },
        },
    }

    (table_dataset,) = datasets(table)

    links = [(each.namespace, each.name) for each in getattr(table_dataset.facets["symlinks"], "identifiers", ())]
    assert table_dataset.id == DatasetId("file", "/data/lake/sales/orders")
    assert links == [("sqlite:/data/c.db", "lake.sales.orders"), ("file:/data/lake", "sales.orders")]
    assert (
        getattr(table_dataset.facets["catalog"], "type", ""),
        getattr(table_dataset.facets["catalog"], "source", ""),
    ) == (
        "jdbc",
        "flink",
    )


def test_a_hive_catalog_of_several_metastores_is_named_by_the_first() -> None:
    table = {
        "name": ["lake", "sales", "orders"],
        "options": {"connector": "iceberg"},
        "columns": _COLUMNS,
        "iceberg": {
            "location": "s3://wh/sales.db/orders",
            "format": None,
            "table": "lake.sales.orders",
            "catalog": {"catalog-type": "hive", "uri": "thrift://m1:9083,thrift://m2:9083", "warehouse": "s3://wh"},
        },
    }

    (table_dataset,) = datasets(table)

    assert getattr(table_dataset.facets["catalog"], "metadataUri", "") == "thrift://m1:9083"


def test_the_schema_has_stored_columns_and_not_computed_ones() -> None:
    (table_dataset,) = datasets(_table(connector="filesystem", path="/in"))

    fields = getattr(table_dataset.facets["schema"], "fields", ())
    assert [(each.name, each.type, each.description) for each in fields] == [("id", "BIGINT", "of the order")]


@pytest.mark.parametrize(
    "table",
    [
        _table(connector="faker"),
        _table(connector="jdbc", url="jdbc:sqlserver://db;databaseName=shop", table_name="far.shop.dbo.orders"),
        _table(connector="jdbc", url="jdbc:oracle:thin:@//db:1521/shop", table_name="orders@far"),
        _table(connector="kafka", properties__bootstrap__servers="b:1", topic_pattern="orders-.*"),
        {"name": ["c", "d", "Unregistered_DataStream_Source_1"]},
        _table(connector="mysql-cdc", hostname="db", database_name="app", table_name="user_.*"),
        _table(connector="mysql-cdc", hostname="db", database_name="app", table_name="orders|payments"),
        _table(connector="mysql-cdc", hostname="db", database_name="app_[0-9]+", table_name="users"),
        _table(connector="sqlserver-cdc", hostname="db", database_name="app", table_name="dbo.orders_(eu|us)"),
        _table(
            connector="postgres-cdc",
            hostname="db",
            database_name="app",
            schema_name="public",
            table_name="orders_\\d{4}",
        ),
    ],
    ids=[
        "unknown connector",
        "of a linked server",
        "behind a database link",
        "topics by a pattern",
        "not a table of a catalog",
        "tables by a pattern",
        "one of two tables",
        "databases by a pattern",
        "tables of a SQL Server",
        "tables of a PostgreSQL",
    ],
)
def test_a_table_that_cannot_be_named_is_an_error(table: dict[str, Any]) -> None:
    with pytest.raises(UnnamedTableError, match="cannot name a table"):
        datasets(table)
