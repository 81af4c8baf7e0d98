"""Rules across several keys of a Kafka input or output."""

from collections.abc import Mapping
from typing import Final

from headwater.pipeline.checking.problems import Complaints
from headwater.pipeline.spec import DeadLetter, KafkaInput, KafkaOutput, KafkaSecurity, SchemaRegistry

_OF_THEIR_OWN: Final = {
    "kafka.bootstrap.servers": "addresses",
    "subscribe": "topics",
    "subscribepattern": "pattern",
    "assign": "topics and start_offsets",
    "topic": "topic",
    "startingoffsets": "start, start_time or start_offsets",
    "startingtimestamp": "start_time",
    "includeheaders": "metadata: [headers]",
    "kafka.security.protocol": "security",
    "kafka.sasl.mechanism": "security",
    "kafka.sasl.jaas.config": "security (with names of environment variables)",
}


def kafka_input(reads: KafkaInput, streams: bool) -> Complaints:
    """An input's complaints."""
    yield from _addresses(reads.addresses)
    if bool(reads.topics) == (reads.pattern is not None):
        yield (), "expected exactly one of topics and pattern"
    yield from _schema(reads)
    starts = [reads.start != "earliest", reads.start_time is not None, bool(reads.start_offsets)]
    if sum(starts) > 1:
        yield (), "expected one of start, start_time and start_offsets"
    yield from _offsets(reads)
    if reads.dead_letter is not None:
        yield from (
            (("dead_letter", *path), message) for path, message in _dead_letter(reads.dead_letter, reads, streams)
        )
    yield from _shared(reads.security, reads.schema_registry, reads.options)
    if reads.static and not streams:
        yield ("static",), "a batch always reads what exists; static is for mode: stream"


def kafka_output(writes: KafkaOutput, _: bool) -> Complaints:
    """An output's complaints."""
    yield from _addresses(writes.addresses)
    if (writes.format == "avro") != (writes.schema_registry is not None):
        yield (), "format: avro needs a schema_registry, and no other format takes one"
    if writes.schema_registry is not None and writes.schema_registry.from_version is not None:
        yield ("schema_registry", "from_version"), "is for inputs only; an output writes the newest version"
    yield from _shared(writes.security, writes.schema_registry, writes.options)


def _addresses(addresses: tuple[str, ...]) -> Complaints:
    if not addresses:
        yield ("addresses",), "expected at least one host:port"


def _schema(reads: KafkaInput) -> Complaints:
    match reads.format:
        case "raw":
            for key in ("schema", "schema_registry"):
                if getattr(reads, key) is not None:
                    yield (key,), "format: raw leaves the bytes as they are; a schema is for json or avro"
            if reads.dead_letter is not None:
                yield ("dead_letter",), "format: raw never fails to parse; dead_letter is for json or avro"
        case "avro":
            if reads.schema_registry is None:
                yield (), "missing key 'schema_registry': it holds the schemas of Avro records"
            if reads.schema is not None:
                yield ("schema",), "format: avro takes its schema from the registry"
        case "json":
            if (reads.schema is None) == (reads.schema_registry is None):
                yield (
                    (),
                    "expected exactly one of schema and schema_registry: a JSON record does not contain its schema",
                )
    registry = reads.schema_registry
    if registry is not None and registry.subject is not None and len(reads.topics) != 1:
        yield ("schema_registry", "subject"), "a subject is for one topic; without it, each topic uses TOPIC-value"


def _offsets(reads: KafkaInput) -> Complaints:
    for topic, partitions in reads.start_offsets.items():
        if reads.topics and topic not in reads.topics:
            yield ("start_offsets", topic), f"expected one of {', '.join(reads.topics)}"
        for partition, offset in partitions.items():
            if not partition.isdecimal():
                yield ("start_offsets", topic, partition), "expected a partition's number"
            if offset < -2:
                yield ("start_offsets", topic, partition), "expected an offset, -2 (earliest) or -1 (latest)"


def _dead_letter(dead: DeadLetter, reads: KafkaInput, streams: bool) -> Complaints:
    if sum(each is not None for each in (dead.iceberg, dead.file, dead.kafka)) != 1:
        yield (), "expected exactly one of iceberg, file and kafka"
    if dead.iceberg is not None and dead.iceberg.mode != "append":
        yield ("iceberg", "mode"), "expected append: each start adds its unreadable records"
    if dead.file is not None:
        if dead.file.format not in ("json", "parquet"):
            yield ("file", "format"), "expected json or parquet, as a record's bytes are not text"
        if streams and dead.file.mode != "append":
            yield ("file", "mode"), "expected append, as a stream only adds files"
        if dead.file.single_file:
            yield ("file", "single_file"), "not for dead letters, which are a directory of files"
    if dead.kafka is not None:
        if dead.kafka.format != "raw":
            yield ("kafka", "format"), "expected raw: the record's own bytes, with the reason in its headers"
        for key in ("key", "headers"):
            if getattr(dead.kafka, key) is not None:
                yield ("kafka", key), "a dead letter keeps the record's own; remove this key"
        if dead.kafka.topic in reads.topics:
            yield ("kafka", "topic"), "the same input reads this topic and would read its dead letters again and again"
        yield from ((("kafka", *path), message) for path, message in kafka_output(dead.kafka, streams))


def _shared(security: KafkaSecurity | None, registry: SchemaRegistry | None, options: Mapping[str, str]) -> Complaints:
    if security is not None:
        both = security.user_env is not None and security.password_env is not None
        if security.protocol.startswith("SASL") and not both:
            yield ("security",), f"protocol: {security.protocol} needs user_env and password_env"
        if security.protocol == "SSL" and (security.user_env or security.password_env):
            yield ("security",), "protocol: SSL takes no user; use SASL_SSL"
    if registry is not None and (registry.user_env is None) != (registry.password_env is None):
        yield ("schema_registry",), "expected both user_env and password_env, or neither"
    for key in options:
        if key.lower() in _OF_THEIR_OWN:
            yield ("options", key), f"expected {_OF_THEIR_OWN[key.lower()]} instead of this option"
