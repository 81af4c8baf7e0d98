"""Iceberg tables, current or as of a time."""

from datetime import UTC

from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession

from headwater.errors import InvalidPipelineError
from headwater.pipeline.spec import IcebergInput
from headwater.pipeline.tables import quoted


def read_iceberg(spark: SparkSession, reads: IcebergInput, *, follow: bool) -> DataFrame:
    """The table's rows; with `follow`, a stream of the rows appended to it.

    Raises:
        InvalidPipelineError: the table has no such snapshot, or none that old.
    """
    if follow:
        return spark.readStream.options(**reads.options).table(quoted(reads.table))
    reader = spark.read.options(**reads.options)
    if reads.snapshot_id is not None:
        reader = reader.option("versionAsOf", str(reads.snapshot_id))
    if reads.as_of is not None:
        # The session's time zone is UTC, and Spark interprets the text in it.
        reader = reader.option("timestampAsOf", reads.as_of.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f"))
    try:
        return reader.table(quoted(reads.table))
    except IllegalArgumentException as fault:
        if reads.snapshot_id is not None:
            raise InvalidPipelineError(f"snapshot_id: {reads.table} has no snapshot {reads.snapshot_id}") from fault
        if reads.as_of is not None:
            raise InvalidPipelineError(f"as_of: {reads.table} has no snapshot from before {reads.as_of}") from fault
        raise
