"""`dedupe`: one row per key."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from headwater.pipeline.spec import DedupeProcessor, Watermark
from headwater.pipeline.tables import quoted_column

_RANK = "__headwater_rank"


def deduplicated(frame: DataFrame, does: DedupeProcessor) -> DataFrame:
    """One row per value of the keys; nulls are equal to each other."""
    if does.watermark is not None:
        return _in_a_stream(frame, does.keys, does.watermark)
    if not does.order_by:
        return frame.dropDuplicates(list(does.keys))
    # `last` is the exact reverse of `first`, nulls included.
    order = [
        column.asc_nulls_first() if does.keep == "first" else column.desc_nulls_last()
        for column in map(F.col, map(quoted_column, does.order_by))
    ]
    rank = F.row_number().over(Window.partitionBy(*map(quoted_column, does.keys)).orderBy(*order))
    return frame.withColumn(_RANK, rank).filter(F.col(_RANK) == 1).drop(_RANK)


def _in_a_stream(frame: DataFrame, keys: tuple[str, ...], watermark: Watermark) -> DataFrame:
    delay = f"{round(watermark.delay * 1000)} milliseconds"
    return frame.withWatermark(watermark.column, delay).dropDuplicatesWithinWatermark(list(keys))
