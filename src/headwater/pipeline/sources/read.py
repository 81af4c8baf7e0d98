"""Read an input of any kind but Kafka, which gives more than one frame: see `pipeline.kafka.read`."""

from pyspark.sql import DataFrame, SparkSession

from headwater.pipeline.sources.database import read_database
from headwater.pipeline.sources.files import read_files
from headwater.pipeline.sources.generate import generated
from headwater.pipeline.sources.iceberg import read_iceberg
from headwater.pipeline.spec import FileInput, GenerateInput, IcebergInput, Mode, SqlInput


def read(spark: SparkSession, reads: FileInput | IcebergInput | SqlInput | GenerateInput, mode: Mode) -> DataFrame:
    """The input's frame: of a stream, a streaming one, unless the input is `static` or a database.

    No data is read but what a schema is guessed from.
    """
    match reads:
        case FileInput():
            return read_files(spark, reads, follow=mode == "stream" and not reads.static)
        case IcebergInput():
            return read_iceberg(spark, reads, follow=mode == "stream" and not reads.static)
        case SqlInput():
            return read_database(spark, reads)
        case GenerateInput():
            return generated(spark, reads)
