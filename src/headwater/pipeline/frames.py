"""From a pipeline file's inputs and steps to data frames, in the file's order."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from headwater.pipeline.execution import Execution
from headwater.pipeline.processors.apply import apply
from headwater.pipeline.session import java_class
from headwater.pipeline.sources.read import read
from headwater.pipeline.spec import PipelineSpec, Place


def input_frames(spark: SparkSession, spec: PipelineSpec) -> dict[str, DataFrame]:
    """The frame of every input, by name."""
    frames = {}
    for one in spec.inputs.values():
        with named(one.place):
            frames[one.name] = _settled(read(spark, one.reads, spec.mode))
    return frames


def all_frames(
    spark: SparkSession, spec: PipelineSpec, inputs: Mapping[str, DataFrame], execution: Execution
) -> dict[str, DataFrame]:
    """The frame of every input and step, by id."""
    frames = dict(inputs)
    for step in spec.processors:
        with named(step.place):
            frames[step.frame] = _settled(apply(spark, step, frames, spec, execution))
    return frames


def _settled(frame: DataFrame) -> DataFrame:
    """The same frame over its analysed plan.

    Spark 4.1.1 analyses a frame anew each time it is written to a table: it would guess the schema of files again by
    reading them, and `rand()` would have another seed, so that two outputs get different rows, cached or not.
    """
    spark = frame.sparkSession
    analysed = frame._jdf.queryExecution().analyzed()
    dataset = java_class(spark, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(spark._jsparkSession, analysed), spark)


@contextmanager
def named(place: Place) -> Iterator[None]:
    """Let an exception tell where in the pipeline file it comes from."""
    try:
        yield
    except Exception as error:
        error.add_note(f"{place.path} (line {place.line})")
        raise
