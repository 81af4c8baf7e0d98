"""Files, local or behind a URL (`s3://` through Hadoop's S3A)."""

from pyspark.sql import DataFrame, SparkSession

from headwater.pipeline.spec import FileInput


def read_files(spark: SparkSession, reads: FileInput, *, follow: bool) -> DataFrame:
    """The files as one frame; with `follow`, a stream of files that arrive in the directory."""
    if follow:
        stream = spark.readStream.format(reads.format).options(**reads.options)
        return (stream.schema(reads.schema) if reads.schema else stream).load(reads.paths[0])
    reader = spark.read.format(reads.format).options(**reads.options)
    return (reader.schema(reads.schema) if reads.schema else reader).load(list(reads.paths))
