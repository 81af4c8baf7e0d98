"""A Kafka input as frames: its rows, and its unreadable records."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from headwater.errors import InvalidInputError
from headwater.pipeline.kafka.broker import Offsets, ends_of, topics_of
from headwater.pipeline.kafka.connection import spark_options
from headwater.pipeline.kafka.evolution import check_evolution, reader_schema
from headwater.pipeline.kafka.json_schema import columns_of
from headwater.pipeline.kafka.payload import (
    Ids,
    Reading,
    avro_reading,
    json_reading,
    no_such_version,
    schema_id_of_record,
)
from headwater.pipeline.kafka.registry import Registry, Version
from headwater.pipeline.kafka.signals import NEW_TOPIC, unknown_schema, unreadable
from headwater.pipeline.kafka.topics import KnownTopics, Topic
from headwater.pipeline.spec import KafkaInput

PAYLOAD: Final = "__headwater_kafka_"
"""Prefix of the alias around an input's rows in a plan: below it is the parsing of records, above it their use."""

_LATEST: Final = -1
_EARLIEST: Final = -2
_REASON: Final = "__headwater_reason"
_RECORD: Final = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")


@dataclass(frozen=True, slots=True)
class Records:
    """The frames of an input.

    Attributes:
        rows: one per readable record; a record without a value has null in every column of the payload.
        dead_letters: one per unreadable record, unchanged, with the `reason`; None if these fail the run.
    """

    rows: DataFrame
    dead_letters: DataFrame | None


def read_kafka(spark: SparkSession, name: str, reads: KafkaInput, known: KnownTopics, *, follow: bool) -> Records:
    """The input's frames; with `follow` they are streams. Adds the topics to `known`.

    Raises:
        NotFoundError: a topic or subject does not exist.
        UnavailableError: the broker or the registry does not answer.
        IncompatibleSchemaError: a version of a subject is incompatible with a previous one.
        InvalidInputError: a column has different types in several topics.
    """
    topics = topics_of(spark, reads)
    records = _source(spark, reads, topics, follow=follow)
    if reads.format == "raw":
        known.by_input[name] = tuple(map(Topic, topics))
        return Records(_rows(name, records, [F.col("value")], reads), None)
    readings = _readings(spark, name, reads, topics, known, follow=follow)
    judged = _judged(name, records, readings)
    schemas = {
        topic: _payload_schema(judged, number, reading) for number, (topic, (reading, _)) in enumerate(readings.items())
    }
    known.by_input[name] = tuple(Topic(topic, schemas[topic], version) for topic, (_, version) in readings.items())
    good = F.col(_REASON).isNull()
    if reads.dead_letter is None:
        good = F.when(good, F.lit(True)).otherwise(unreadable(name, F.col(_REASON)).cast("boolean"))
    rows = _rows(name, judged.where(good), _columns(name, schemas), reads)
    return Records(rows, None if reads.dead_letter is None else _dead_letters(judged, reads))


def _source(spark: SparkSession, reads: KafkaInput, topics: Sequence[str], *, follow: bool) -> DataFrame:
    # A batch fixes its end offsets now: a frame that is read twice would otherwise see records that came in between.
    ends = ends_of(spark, reads, topics) if reads.start_offsets or not follow else {}
    options = {**spark_options(reads), "includeHeaders": "true", **_start(reads, ends, follow=follow)}
    grows = reads.pattern is not None and follow and reads.format != "raw"
    options |= {"subscribePattern": str(reads.pattern)} if grows else {"subscribe": ",".join(topics)}
    if follow:
        frame = spark.readStream.format("kafka").options(**options).load()
    else:
        options["endingOffsets"] = json.dumps(ends)
        if options["startingOffsets"] == "latest":  # only valid for streams: a batch has nothing after its end
            options["startingOffsets"] = options["endingOffsets"]
        frame = spark.read.format("kafka").options(**options).load()
    return frame.select(*_RECORD)


def _start(reads: KafkaInput, ends: Offsets, *, follow: bool) -> Mapping[str, str]:
    if reads.start_time is not None:
        milliseconds = round(reads.start_time.timestamp() * 1000)
        # A partition without records since then would otherwise fail the query.
        return {
            "startingTimestamp": str(milliseconds),
            "startingOffsetsByTimestampStrategy": "latest",
            "startingOffsets": "earliest",
        }
    if reads.start_offsets:
        return {"startingOffsets": json.dumps(beginnings(reads.start_offsets, ends, follow=follow))}
    return {"startingOffsets": reads.start}


def beginnings(wanted: Mapping[str, Mapping[str, int]], ends: Offsets, *, follow: bool) -> Offsets:
    """The start offset of every partition, since Spark requires all of them: by default the earliest.

    For a batch Spark does not accept `-1` (latest) as a start; it is replaced by the end offset.
    """

    def at(topic: str, partition: str, end: int) -> int:
        offset = wanted.get(topic, {}).get(partition, _EARLIEST)
        return end if offset == _LATEST and not follow else offset

    return {
        topic: {partition: at(topic, partition, end) for partition, end in partitions.items()}
        for topic, partitions in ends.items()
    }


def _readings(
    spark: SparkSession, name: str, reads: KafkaInput, topics: Iterable[str], known: KnownTopics, *, follow: bool
) -> dict[str, tuple[Reading, Version | None]]:
    """By topic, how it is read, and its newest version."""
    if reads.schema is not None:
        reading = json_reading(reads.schema)
        return {topic: (reading, None) for topic in topics}
    assert reads.schema_registry is not None  # noqa: S101  (checked with the file)
    found: dict[str, tuple[Reading, Version | None]] = {}
    with closing(Registry(reads.schema_registry)) as registry:
        for topic in topics:
            versions = _versions(spark, registry, reads, topic)
            writers = {version.schema_id: version.schema for version in versions}
            strange = [number for of, number in known.unknown_ids if of == topic]
            ids = Ids(writers, strange, _otherwise(name, follow=follow))
            if reads.format == "avro":
                found[topic] = (avro_reading(writers, reader_schema(versions), ids), versions[-1])
            else:
                found[topic] = (json_reading(columns_of(versions), ids), versions[-1])
    return found


def _versions(spark: SparkSession, registry: Registry, reads: KafkaInput, topic: str) -> list[Version]:
    subject = (reads.schema_registry and reads.schema_registry.subject) or f"{topic}-value"
    versions = registry.versions(subject)
    if other := next((version.kind for version in versions if version.kind != reads.format.upper()), None):
        raise InvalidInputError(f"{subject}: format is {reads.format}, but its schema is {other}")
    if reads.format == "avro":
        check_evolution(spark, versions, registry.rule(subject))
    return versions


def _otherwise(name: str, *, follow: bool) -> Column:
    """For an unknown id a stream stops, to ask the registry again; a batch asked it after its last record arrived."""
    return unknown_schema(name, schema_id_of_record()) if follow else no_such_version()


def _judged(name: str, records: DataFrame, readings: Mapping[str, tuple[Reading, Version | None]]) -> DataFrame:
    """The records with a struct per topic, `payload_0` and so on, and the reason why a record is unreadable.

    A new topic that matches the input's pattern while a stream runs is treated like a new schema.
    """
    reason = unknown_schema(name, F.lit(NEW_TOPIC)).cast("string")
    payloads = []
    for number, (topic, (reading, _)) in enumerate(readings.items()):
        of_topic, column = F.col("topic") == topic, f"payload_{number}"
        payloads.append(F.when(of_topic, reading.payload).alias(column))
        reason = F.when(of_topic, reading.reason(F.col(column))).otherwise(reason)
    # Two steps: in one, the payload would be parsed once for itself and once more for every use in the reason.
    return records.select("*", *payloads).select("*", reason.alias(_REASON))


def _payload_schema(judged: DataFrame, number: int, reading: Reading) -> StructType:
    payload = judged.schema[f"payload_{number}"].dataType
    return StructType([field for field in payload.fields if field.name != reading.hidden])


def _columns(name: str, schemas: Mapping[str, StructType]) -> list[Column]:
    """Every field of every topic once; a field of several topics becomes one column."""
    found: dict[str, tuple[StructField, list[int]]] = {}
    for number, schema in enumerate(schemas.values()):
        for field in schema.fields:
            first, numbers = found.setdefault(field.name, (field, []))
            if first.dataType != field.dataType:
                raise InvalidInputError(
                    f"{name}: the type of column {field.name!r} differs between topics, {first.dataType.simpleString()}"
                    f" and {field.dataType.simpleString()}: read each topic as an input of its own"
                )
            numbers.append(number)
    return [
        F.coalesce(*(F.col(f"payload_{number}").getField(column) for number in numbers)).alias(column)
        for column, (_, numbers) in found.items()
    ]


def _rows(name: str, frame: DataFrame, columns: Sequence[Column], reads: KafkaInput) -> DataFrame:
    metadata = [F.col(column).alias(f"_{column}") for column in reads.metadata]
    return frame.select(*columns, *metadata).alias(f"{PAYLOAD}{name}")


def _dead_letters(judged: DataFrame, reads: KafkaInput) -> DataFrame:
    wrong = judged.where(F.col(_REASON).isNotNull())
    if reads.dead_letter is not None and reads.dead_letter.kafka is not None:
        return wrong.select("key", "value", _headers_with_reason().alias("headers"))
    return wrong.select(*_RECORD, F.col(_REASON).alias("reason"))


def _headers_with_reason() -> Column:
    where = {"reason": F.col(_REASON), "topic": F.col("topic")}
    where |= {name: F.col(name).cast("string") for name in ("partition", "offset")}
    added = [
        F.struct(F.lit(f"headwater.{key}").alias("key"), text.cast("binary").alias("value"))
        for key, text in where.items()
    ]
    empty = F.expr("CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)")
    return F.concat(F.coalesce(F.col("headers"), empty), F.array(*added))
