"""Kafka topics: one record a row, at least once."""

import json
from contextlib import closing
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from headwater.errors import InvalidPipelineError
from headwater.observe.spark.failure import kinds_of
from headwater.observe.spark.jvm import java_class
from headwater.pipeline.kafka.broker import check_target
from headwater.pipeline.kafka.connection import spark_options
from headwater.pipeline.kafka.evolution import nullable
from headwater.pipeline.kafka.registry import Registry
from headwater.pipeline.spec import KafkaOutput
from headwater.pipeline.tables import quoted_column

_KAFKA: Final = "org.apache.kafka."
_STOPPED: Final = "org.apache.kafka.common.errors.InterruptException"
_HEADERS: Final = "array<struct<key:string,value:binary>>"


def write_topic(frame: DataFrame, writes: KafkaOutput) -> int | None:
    """Write a record for every row.

    Returns:
        The number of rows, if the frame is cached (as a stream's micro-batch is), so that counting is cheap; otherwise
        None: Spark's Kafka sink reports no metrics and no observations.

    Raises:
        InvalidPipelineError: the frame lacks columns that the output names.
        NotFoundError: the topic does not exist.
        UnavailableError: the broker does not answer, or denies access; or the registry does, or refuses the schema.
    """
    records = topic_records(frame, writes)
    try:
        records.write.format("kafka").options(**spark_options(writes)).option("topic", writes.topic).save()
    except Exception as failed:
        kinds = kinds_of(failed)
        # Kafka's own errors name neither an address nor whether a topic was read or written.
        if any(kind.startswith(_KAFKA) for kind in kinds) and _STOPPED not in kinds:
            check_target(frame.sparkSession, writes)
        raise
    return frame.count() if frame.is_cached else None


def payload_columns(frame: DataFrame, writes: KafkaOutput) -> list[str]:
    """The columns that form the value."""
    apart = {writes.key, writes.headers}
    return ["value"] if writes.format == "raw" else [name for name in frame.columns if name not in apart]


def topic_records(frame: DataFrame, writes: KafkaOutput) -> DataFrame:
    """The rows as records: `value`, and `key` and `headers` if configured.

    Raises:
        InvalidPipelineError: as `write_topic`.
    """
    needed = {writes.key, writes.headers, "value" if writes.format == "raw" else None} - {None}
    if missing := sorted(str(name) for name in needed - set(frame.columns)):
        raise InvalidPipelineError(
            f"kafka: missing column {', '.join(missing)}; the columns are {', '.join(frame.columns)}"
        )
    columns = [_value(frame, writes).alias("value")]
    if writes.key is not None:
        key = F.col(quoted_column(writes.key))
        columns.append(
            (key if frame.schema[writes.key].dataType.typeName() == "binary" else key.cast("string")).alias("key")
        )
    if writes.headers is not None:
        columns.append(F.col(quoted_column(writes.headers)).cast(_HEADERS).alias("headers"))
    return frame.select(*columns)


def _value(frame: DataFrame, writes: KafkaOutput) -> Column:
    if writes.format == "raw":
        return F.col("value")
    payload = F.struct(*map(quoted_column, payload_columns(frame, writes)))
    if writes.format == "json":
        return F.to_json(payload, {"ignoreNullFields": "false"})
    schema = _avro_schema(frame.select(*map(quoted_column, payload_columns(frame, writes))), writes.topic)
    schema_id = _registered(writes, schema)
    header = b"\x00" + schema_id.to_bytes(4, "big")
    return F.concat(F.lit(header), to_avro(payload, schema))


def _avro_schema(frame: DataFrame, topic: str) -> str:
    """The columns as an Avro record named after the topic; each is nullable, with default null."""
    name = "".join(letter if letter.isalnum() else "_" for letter in topic)
    converters = java_class(frame.sparkSession, "org.apache.spark.sql.avro.SchemaConverters")
    schema = json.loads(converters.toAvroType(frame._jdf.schema().asNullable(), False, f"r_{name}", "").toString())
    return json.dumps({**schema, "fields": [*map(nullable, schema["fields"])]})


def _registered(writes: KafkaOutput, schema: str) -> int:
    assert writes.schema_registry is not None  # noqa: S101  (checked with the file)
    with closing(Registry(writes.schema_registry)) as registry:
        return registry.register(writes.schema_registry.subject or f"{writes.topic}-value", schema)
