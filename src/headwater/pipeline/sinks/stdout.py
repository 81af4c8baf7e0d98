"""Standard output, for looking at rows while a pipeline is being written."""

import sys

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.pipeline.spec import StdoutOutput


def print_rows(frame: DataFrame, writes: StdoutOutput) -> int:
    """Print the first rows, one JSON object a line; returns how many there were."""
    as_json = frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}))
    rows = as_json._jdf.takeAsList(writes.rows)
    sys.stdout.writelines(row.getString(0) + "\n" for row in rows)
    sys.stdout.flush()
    return len(rows)
