"""Write a batch, or a stream's micro-batch, to an output of any kind."""

from pyspark.sql import DataFrame

from headwater.pipeline.sinks.database import write_database
from headwater.pipeline.sinks.files import write_files
from headwater.pipeline.sinks.http import send_rows
from headwater.pipeline.sinks.iceberg import write_iceberg
from headwater.pipeline.sinks.kafka import write_topic
from headwater.pipeline.sinks.stdout import print_rows
from headwater.pipeline.spec import (
    FileOutput,
    HttpOutput,
    IcebergOutput,
    KafkaOutput,
    OutputKind,
    SqlOutput,
    StdoutOutput,
)


def write(frame: DataFrame, writes: OutputKind) -> int | None:
    """Write all rows of the frame.

    Returns:
        The number of rows where only the sink itself can tell; None where Spark's own metrics do.
    """
    match writes:
        case FileOutput():
            write_files(frame, writes)
        case IcebergOutput():
            write_iceberg(frame, writes)
        case KafkaOutput():
            return write_topic(frame, writes)
        case SqlOutput():
            write_database(frame, writes)
        case HttpOutput():
            send_rows(frame, writes)
        case StdoutOutput():
            return print_rows(frame, writes)
    return None
