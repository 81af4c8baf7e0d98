"""Iceberg tables, now or as they were."""

from datetime import UTC

from pyspark.sql import DataFrame, SparkSession

from headwater.pipeline.spec import IcebergInput
from headwater.pipeline.tables import quoted


def read_iceberg(spark: SparkSession, reads: IcebergInput, *, follow: bool) -> DataFrame:
    """The table's rows; with `follow`, a stream of those that are appended to it."""
    if follow:
        return spark.readStream.options(**reads.options).table(quoted(reads.table))
    reader = spark.read.options(**reads.options)
    if reads.snapshot_id is not None:
        reader = reader.option("versionAsOf", str(reads.snapshot_id))
    if reads.as_of is not None:
        # The session's time zone is UTC, and Spark takes the text as local to the session.
        reader = reader.option("timestampAsOf", reads.as_of.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f"))
    return reader.table(quoted(reads.table))
