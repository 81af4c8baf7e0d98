"""The data frames of a pipeline's inputs and steps, in the file's order."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headwater.observe.spark.jvm import java_class
from headwater.pipeline.execution import Execution
from headwater.pipeline.kafka.read import read_kafka
from headwater.pipeline.kafka.topics import KnownTopics
from headwater.pipeline.processors.apply import apply
from headwater.pipeline.sources.read import read
from headwater.pipeline.spec import KafkaInput, PipelineSpec, SourceLocation, dead_letter_frame


@dataclass(frozen=True, slots=True)
class InputFrames:
    """The frames of the inputs.

    Attributes:
        rows: the readable rows, by the input's name.
        dead_letters: the unreadable records, by the id of their frame.
    """

    rows: dict[str, DataFrame]
    dead_letters: dict[str, DataFrame]


def input_frames(spark: SparkSession, spec: PipelineSpec, known: KnownTopics, fetched: Path) -> InputFrames:
    """The frames of every input; adds topics to `known`, and stores records of APIs below `fetched`."""
    found = InputFrames({}, {})
    for one in spec.inputs.values():
        with named(one.location):
            if isinstance(one.reads, KafkaInput):
                follow = spec.mode == "stream" and not one.reads.static
                records = read_kafka(spark, one.name, one.reads, known, follow=follow)
                found.rows[one.name] = _settled(records.rows)
                if records.dead_letters is not None:
                    found.dead_letters[dead_letter_frame(one.name)] = _settled(records.dead_letters)
            else:
                found.rows[one.name] = _settled(read(spark, one.reads, spec.mode, fetched / one.name))
    return found


def all_frames(
    spark: SparkSession, spec: PipelineSpec, inputs: InputFrames, execution: Execution
) -> dict[str, DataFrame]:
    """The frame of every input and step, by id."""
    frames = {**inputs.rows, **inputs.dead_letters}
    for step in spec.processors:
        with named(step.location):
            frames[step.frame] = _settled(apply(spark, step, frames, spec, execution))
    return frames


def _settled(frame: DataFrame) -> DataFrame:
    """The same frame, over its analysed plan.

    Spark 4.1.1 analyses a frame again each time it is written to a table: it would infer the schema of files again by
    reading them, and `rand()` would get another seed, so that two outputs get different rows, cached or not.
    """
    spark = frame.sparkSession
    analysed = frame._jdf.queryExecution().analyzed()
    dataset = java_class(spark, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(spark._jsparkSession, analysed), spark)


@contextmanager
def named(location: SourceLocation) -> Iterator[None]:
    """Adds the location in the pipeline file to an exception of the block."""
    try:
        yield
    except Exception as error:
        error.add_note(f"{location.path} (line {location.line})")
        raise
