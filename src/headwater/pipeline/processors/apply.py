"""Apply a step of any kind."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from headwater.pipeline.execution import Execution
from headwater.pipeline.processors.columns import mapped
from headwater.pipeline.processors.dedupe import deduplicated
from headwater.pipeline.processors.metadata import stamped
from headwater.pipeline.processors.python import applied
from headwater.pipeline.processors.signature import record_signed
from headwater.pipeline.spec import (
    DedupeProcessor,
    FilterProcessor,
    MappingProcessor,
    MetadataProcessor,
    PipelineSpec,
    Processor,
    PythonProcessor,
    SignatureProcessor,
    SqlProcessor,
)


def apply(
    spark: SparkSession, processor: Processor, frames: Mapping[str, DataFrame], spec: PipelineSpec, execution: Execution
) -> DataFrame:
    """The result of a step; `frames` are the existing ones, by id."""
    if isinstance(processor.does, SqlProcessor):
        return _queried(spark, processor.does, {view: frames[frame] for view, frame in processor.views.items()})
    if processor.source is None:  # `check` gives every other step a source
        raise AssertionError(f"{processor.location.path}: no source")
    source = frames[processor.source]
    match processor.does:
        case MappingProcessor() as does:
            return mapped(source, does)
        case FilterProcessor() as does:
            return source.filter(does.condition)
        case DedupeProcessor() as does:
            return deduplicated(source, does)
        case PythonProcessor() as does:
            return applied(source, does, spec.source.parent)
        case MetadataProcessor() as does:
            return stamped(source, does, spec, execution)
        case SignatureProcessor() as does:
            return record_signed(source, does, execution.home)


def _queried(spark: SparkSession, does: SqlProcessor, views: Mapping[str, DataFrame]) -> DataFrame:
    """The query's frame. Its views are in the run's session; `input` is a different frame at every step."""
    for name, frame in views.items():
        frame.createOrReplaceTempView(name)
    return spark.sql(does.query)
