"""Names of tables and columns for Spark's SQL, and Iceberg's own object of a table."""

from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import java_class

_ABSENT: Final = ("NoSuchTableException", "NoSuchNamespaceException")


def quoted(table: str) -> str:
    """Each part of the name in backticks: `lake.raw.flights` may contain a reserved word."""
    return ".".join(map(quoted_column, table.split(".")))


def quoted_column(name: str) -> str:
    """A column's name in backticks, so that a dot is part of the name; otherwise `a.b` is field `b` of `a`."""
    return "`" + name.replace("`", "``") + "`"


def iceberg_table(spark: SparkSession, table: str) -> Any:  # noqa: ANN401  (a Java object)
    """The table as `org.apache.iceberg.Table`; None if it does not exist.

    It is the session's own object, so it includes the session's commits; those of others only after `refresh()`.
    """
    catalog, _, name = table.partition(".")
    manager = spark._jsparkSession.sessionState().catalogManager()
    try:
        identifier = java_class(spark, "org.apache.iceberg.catalog.TableIdentifier").parse(name)
        return manager.catalog(catalog).icebergCatalog().loadTable(identifier)
    except Py4JJavaError as failed:
        if failed.java_exception.getClass().getSimpleName() in _ABSENT:
            return None
        raise
