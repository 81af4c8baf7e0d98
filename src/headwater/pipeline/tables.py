"""Names of tables and columns as Spark's SQL takes them, and Iceberg's own view of a table."""

from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import java_class

_ABSENT: Final = ("NoSuchTableException", "NoSuchNamespaceException")


def quoted(table: str) -> str:
    """Each part of the name in backticks: `lake.raw.flights` may hold a word that SQL reserves."""
    return ".".join(map(quoted_column, table.split(".")))


def quoted_column(name: str) -> str:
    """A column's name in backticks, a dot in it being part of the name: `a.b` is otherwise field `b` of `a`."""
    return "`" + name.replace("`", "``") + "`"


def iceberg_table(spark: SparkSession, table: str) -> Any:  # noqa: ANN401  (a Java object)
    """The table as `org.apache.iceberg.Table`, None where there is none.

    It is the object that the session itself reads and commits through, so it knows what the session has committed; what
    others have, only after its `refresh()`.
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
