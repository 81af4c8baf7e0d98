"""A local Spark with three tables: `orders` and `refunds` in Iceberg, `customers` in CSV files."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

ORDERS = """order_id BIGINT, customer_id BIGINT, amount DOUBLE, status STRING, placed_at TIMESTAMP,
    items ARRAY<STRING>, tags MAP<STRING, STRING>, address STRUCT<city: STRING, zip: STRING>"""


@pytest.fixture(scope="session")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A separate session, so that views and catalogs are separate too."""
    folder = tmp_path_factory.mktemp("sparkplan")
    session = spark.newSession()
    session.conf.set("spark.sql.catalog.lineage", "org.apache.iceberg.spark.SparkCatalog")
    session.conf.set("spark.sql.catalog.lineage.type", "hadoop")
    session.conf.set("spark.sql.catalog.lineage.warehouse", str(folder / "warehouse"))
    _create_tables(session, folder)
    return session


@pytest.fixture(scope="session")
def orders(lake: SparkSession) -> DataFrame:
    return lake.table("lineage.shop.orders")


@pytest.fixture(scope="session")
def refunds(lake: SparkSession) -> DataFrame:
    return lake.table("lineage.shop.refunds")


@pytest.fixture(scope="session")
def customers(lake: SparkSession) -> DataFrame:
    return lake.table("customers")


def _create_tables(session: SparkSession, folder: Path) -> None:
    session.sql(f"CREATE TABLE lineage.shop.orders ({ORDERS}) USING iceberg")
    session.sql("CREATE TABLE lineage.shop.refunds (order_id BIGINT, amount DOUBLE, reason STRING) USING iceberg")
    session.table("lineage.shop.orders").createOrReplaceTempView("orders")
    session.table("lineage.shop.refunds").createOrReplaceTempView("refunds")
    (folder / "customers").mkdir()
    (folder / "customers" / "part.csv").write_text("1,Ada,ada@example.org,Paris\n", encoding="utf-8")
    schema = "customer_id BIGINT, name STRING, email STRING, city STRING"
    session.read.schema(schema).csv(str(folder / "customers")).createOrReplaceTempView("customers")
