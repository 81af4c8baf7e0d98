"""The Iceberg tables of a pipeline as datasets."""

import json
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from headwater.observe.described import Described
from headwater.observe.spark.iceberg import IcebergCatalog, iceberg_dataset
from headwater.observe.spark.jvm import java_class
from headwater.observe.spark.schema import schema_facet
from headwater.pipeline.spec import CatalogSpec
from headwater.pipeline.tables import iceberg_table


def described_table(spark: SparkSession, table: str, catalog: CatalogSpec | None) -> Described | None:
    """The table; a missing one by its future location in the catalog, None if only the catalog knows that."""
    found = iceberg_table(spark, table)
    location = found.location() if found is not None else _location_to_be(table, catalog)
    if location is None:
        return None
    file_format = found.properties().get("write.format.default") if found is not None else None
    kept_in = IcebergCatalog(catalog.type, catalog.uri, catalog.warehouse) if catalog is not None else None
    described = iceberg_dataset(location, file_format, table, kept_in)
    if found is not None:
        described.facets["schema"] = schema_facet(_schema(spark, found))
    return described


def _schema(spark: SparkSession, table: Any) -> StructType:  # noqa: ANN401  (a Java object)
    java = java_class(spark, "org.apache.iceberg.spark.SparkSchemaUtil").convert(table.schema())
    return StructType.fromJson(json.loads(java.json()))


def _location_to_be(table: str, catalog: CatalogSpec | None) -> str | None:
    """The location of a new table in JDBC and Hadoop catalogs: under the warehouse, by namespace and name."""
    if catalog is None or catalog.warehouse is None or catalog.type not in ("jdbc", "hadoop"):
        return None
    return "/".join([catalog.warehouse.rstrip("/"), *table.split(".")[1:]])
