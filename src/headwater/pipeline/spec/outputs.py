"""The kinds of output of a pipeline file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from headwater.pipeline.spec.connections import HttpCall, KafkaSecurity, S3Access, SchemaRegistry
from headwater.pipeline.terms import (
    Address,
    EnvName,
    JdbcUrl,
    Location,
    Name,
    PositiveInt,
    SqlExpression,
    TableName,
    Topic,
)

FileFormat = Literal["csv", "json", "parquet", "text"]


KafkaFormat = Literal["json", "avro", "raw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutput:
    """Files under `path`.

    Attributes:
        mode: `error` fails if `path` exists already; a stream only appends.
        single_file: `path` is one file, not a directory of part files. Not with `append`, `partition_by` or a stream.
    """

    path: Location
    format: FileFormat
    mode: Literal["error", "append", "overwrite"] = "error"
    partition_by: tuple[Name, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    single_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Output(FileOutput, S3Access):
    """Objects under a path of a bucket: files with credentials for the bucket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergOutput:
    """An Iceberg table.

    Attributes:
        mode: `overwrite` replaces all rows in one snapshot; `merge` updates rows with equal `on`, and inserts others.
        on: key columns of `merge`, null equal to null; at most one incoming row per key.
        partition_by: columns or transforms (`days(bid_time)`, `bucket(16, id)`), used when the table is created.
        create: whether a missing table is created.
    """

    table: TableName
    mode: Literal["append", "overwrite", "merge"] = "append"
    on: tuple[Name, ...] = ()
    partition_by: tuple[SqlExpression, ...] = ()
    create: bool = True
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlOutput:
    """A database table, over JDBC; a stream only appends."""

    url: JdbcUrl
    table: Name
    mode: Literal["append", "overwrite"] = "append"
    user_env: EnvName | None = None
    password_env: EnvName | None = None
    driver: Name | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaOutput:
    """A Kafka topic: at least once, also in a stream.

    Attributes:
        format: `json` and `avro` write all columns but key and headers; `raw` only the column `value`.
        key: the column with the records' key.
        headers: the column with their headers, an ARRAY<STRUCT<key STRING, value BINARY>>.
        schema_registry: for `avro`, where the schema is registered under TOPIC-value.
    """

    addresses: tuple[Address, ...]
    topic: Topic
    format: KafkaFormat = "json"
    key: Name | None = None
    headers: Name | None = None
    schema_registry: SchemaRegistry | None = None
    security: KafkaSecurity | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOutput(HttpCall):
    """An API that takes rows as JSON: at least once.

    Attributes:
        format: `json`, one list per call; `lines`, one object per line.
        batch_size: the most rows per call.
    """

    method: Literal["POST", "PUT"] = "POST"
    format: Literal["json", "lines"] = "json"
    batch_size: PositiveInt = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StdoutOutput:
    """The first `rows` rows (of every micro-batch, in a stream) on standard output."""

    rows: PositiveInt = 20


OutputKind = FileOutput | IcebergOutput | SqlOutput | StdoutOutput | KafkaOutput | HttpOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """The target of unreadable records: exactly one of the three."""

    iceberg: IcebergOutput | None = None
    file: FileOutput | None = None
    kafka: KafkaOutput | None = None

    @property
    def writes(self) -> "IcebergOutput | FileOutput | KafkaOutput | None":
        """The given target; a topic gets the record's own key, and its headers with the reason added."""
        topic = None if self.kafka is None else replace(self.kafka, key="key", headers="headers")
        return self.iceberg or self.file or topic
