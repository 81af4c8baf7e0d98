"""Reads an input of any kind but Kafka, which has more than one frame: see `pipeline.kafka.read`."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headwater.pipeline.sources.database import read_database
from headwater.pipeline.sources.files import read_files
from headwater.pipeline.sources.generate import generated
from headwater.pipeline.sources.http import read_http
from headwater.pipeline.sources.iceberg import read_iceberg
from headwater.pipeline.spec import FileInput, GenerateInput, HttpInput, IcebergInput, Mode, SqlInput


def read(
    spark: SparkSession,
    reads: FileInput | IcebergInput | SqlInput | GenerateInput | HttpInput,
    mode: Mode,
    fetched: Path,
) -> DataFrame:
    """The input's frame: a streaming one in a stream, unless the input is `static`, a database or an API.

    Data is read only to infer a schema, and from an API, whose records are stored in the folder `fetched`.
    """
    match reads:
        case FileInput():
            return read_files(spark, reads, follow=mode == "stream" and not reads.static)
        case IcebergInput():
            return read_iceberg(spark, reads, follow=mode == "stream" and not reads.static)
        case SqlInput():
            return read_database(spark, reads)
        case HttpInput():
            return read_http(spark, reads, fetched)
        case GenerateInput():
            return generated(spark, reads)
