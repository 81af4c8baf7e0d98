"""`mapping`: columns by expression."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.errors import InvalidPipelineError
from headwater.pipeline.spec import MappingProcessor
from headwater.pipeline.tables import quoted_column


def mapped(frame: DataFrame, does: MappingProcessor) -> DataFrame:
    """The mapped columns in order; with `keep`, after the others, or in place of the one they replace.

    Raises:
        InvalidPipelineError: a column to be dropped does not exist.
    """
    mapped = {name: F.expr(expression).alias(name) for name, expression in does.columns.items()}
    if not does.keep:
        return frame.select(*mapped.values())
    # Spark's names are case-insensitive, so `Price` replaces `price`.
    by_lower = {name.lower(): column for name, column in mapped.items()}
    there = {name.lower() for name in frame.columns}
    dropped = {name.lower() for name in does.drop}
    if missing := [name for name in does.drop if name.lower() not in there]:
        raise InvalidPipelineError(f"drop: no column {', '.join(missing)}; the columns are {', '.join(frame.columns)}")
    others = [
        by_lower.pop(name.lower(), F.col(quoted_column(name)))
        for name in frame.columns
        if name.lower() not in dropped or name.lower() in by_lower
    ]
    return frame.select(*others, *by_lower.values())
