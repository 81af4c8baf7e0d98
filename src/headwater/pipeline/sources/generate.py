"""Generated rows, for trying a pipeline and for load tests."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.pipeline.spec import GenerateInput


def generated(spark: SparkSession, reads: GenerateInput) -> DataFrame:
    """Rows with `id` from 0, or with columns derived from it; a stream if `rows_per_second` is given."""
    if reads.rows_per_second is not None:
        rate = spark.readStream.format("rate").option("rowsPerSecond", reads.rows_per_second).load()
        ids = rate.select(F.col("value").alias("id"))
    else:
        ids = spark.range(reads.rows or 0)
    if not reads.columns:
        return ids
    return ids.select(*(F.expr(expression).alias(name) for name, expression in reads.columns.items()))
