"""`metadata`: adds the run to every row, so that a stored row can be joined to the run's events."""

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headwater.pipeline.execution import Execution
from headwater.pipeline.spec import METADATA_FIELDS, MetadataProcessor, PipelineSpec


def stamped(frame: DataFrame, does: MetadataProcessor, spec: PipelineSpec, execution: Execution) -> DataFrame:
    """The frame with the chosen fields, in one struct column or in one column per field."""
    values = _values(spec, execution)
    fields = {field: _literal(values[field]) for group in does.include for field in METADATA_FIELDS[group]}
    if does.format == "flat":
        return frame.withColumns({does.prefix + field: column for field, column in fields.items()})
    return frame.withColumn(does.body_key, F.struct(*(column.alias(field) for field, column in fields.items())))


def _values(spec: PipelineSpec, execution: Execution) -> dict[str, str | datetime | None]:
    return {
        "run_id": execution.run_id,
        "job_namespace": spec.namespace,
        "job_name": spec.name,
        "started_at": execution.started_at,
        "pipeline_file": str(spec.source),
        "schema_version": None if spec.schema_version is None else str(spec.schema_version),
        "pipeline_sha256": spec.source_sha256,
        "node_id": execution.node_id,
        "host": execution.host,
    }


def _literal(value: str | datetime | None) -> Column:
    return F.lit(value) if isinstance(value, datetime) else F.lit(value).cast("string")
