"""Iceberg tables: append, overwrite, merge; created with their namespace on first use."""

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.pipeline.spec import IcebergOutput
from headwater.pipeline.tables import quoted, quoted_column

_INCOMING = "__headwater_incoming"


def write_iceberg(frame: DataFrame, writes: IcebergOutput) -> None:
    """Write the frame in one snapshot; columns go by name."""
    make_table(frame, writes)
    match writes.mode:
        case "append":
            frame.writeTo(quoted(writes.table)).options(**writes.options).append()
        case "overwrite":
            frame.writeTo(quoted(writes.table)).options(**writes.options).overwrite(F.lit(True))
        case "merge":
            _merge(frame, writes)


def make_table(frame: DataFrame, writes: IcebergOutput) -> None:
    """Create the table, and its namespace, with the frame's columns, unless it exists or `create` is off.

    All columns are nullable: that this frame's are never null is no promise for the next one's.
    """
    spark = frame.sparkSession
    if not writes.create or spark.catalog.tableExists(quoted(writes.table)):
        return
    _make_namespace(spark, quoted(writes.table.rpartition(".")[0]))
    columns = frame._jdf.schema().asNullable().toDDL()
    partitions = f"PARTITIONED BY ({', '.join(writes.partition_by)})" if writes.partition_by else ""
    spark.sql(f"CREATE TABLE IF NOT EXISTS {quoted(writes.table)} ({columns}) USING iceberg {partitions}")


def add_columns(frame: DataFrame, writes: IcebergOutput) -> None:
    """Add the frame's new columns to the table, at its end."""
    spark = frame.sparkSession
    there = {name.lower() for name in spark.table(quoted(writes.table)).columns}
    new = [field for field in frame._jdf.schema().asNullable().fields() if field.name().lower() not in there]
    if new:
        columns = ", ".join(field.toDDL() for field in new)
        spark.sql(f"ALTER TABLE {quoted(writes.table)} ADD COLUMNS ({columns})")


def _make_namespace(spark: SparkSession, namespace: str) -> None:
    """Create the namespace; if another process creates it at the same time, the catalog's error is ignored."""
    try:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    except (Py4JJavaError, PySparkException):
        if not spark.catalog.databaseExists(namespace):
            raise


def _merge(frame: DataFrame, writes: IcebergOutput) -> None:
    """Update rows equal in the keys, insert the others.

    Not as SQL over a temporary view: with a view over another Iceberg table Spark 4.1.1 fails to plan it
    ("No plan for TableReference").
    """
    table = quoted(writes.table)
    keys = " AND ".join(f"{table}.{quoted_column(key)} <=> {_INCOMING}.{quoted_column(key)}" for key in writes.on)
    merging = frame.alias(_INCOMING).mergeInto(table, F.expr(keys))
    merging.whenMatched().updateAll().whenNotMatched().insertAll().merge()
