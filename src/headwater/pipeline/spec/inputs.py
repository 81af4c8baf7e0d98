"""The kinds of input of a pipeline file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from headwater.pipeline.spec.connections import HttpCall, KafkaSecurity, Paging, S3Access, SchemaRegistry
from headwater.pipeline.spec.outputs import DeadLetter, FileFormat, KafkaFormat
from headwater.pipeline.terms import (
    Address,
    Ddl,
    EnvName,
    Instant,
    JdbcUrl,
    Location,
    Name,
    Pattern,
    PositiveInt,
    SqlExpression,
    SqlQuery,
    TableName,
    Topic,
)

KafkaMetadata = Literal["key", "headers", "topic", "partition", "offset", "timestamp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput:
    """Files that are read as one frame.

    Attributes:
        paths: files, directories or globs; a stream takes exactly one.
        schema: columns and types; without it Spark infers them. A stream needs it, except for `text`.
        options: passed to Spark's reader unchanged.
        static: in a stream, read once per start instead of followed.
    """

    paths: tuple[Location, ...]
    format: FileFormat
    schema: Ddl | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    static: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Input(FileInput, S3Access):
    """Objects of a bucket that are read as one frame: files with credentials for the bucket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpInput(HttpCall):
    """JSON records of an API, fetched once per start.

    Attributes:
        records: the path of the list of records in the answer, such as `data.items`; None: the answer is the list.
        schema: columns and types; without it Spark infers them from the records.
        params: query parameters.
        most_pages: more pages than this fail the run.
    """

    records: Name | None = None
    schema: Ddl | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    paging: Paging | None = None
    most_pages: PositiveInt = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergInput:
    """An Iceberg table, current or as of a time: at most one of `snapshot_id` and `as_of` (with a time zone).

    Attributes:
        static: in a stream, read once per start instead of followed.
    """

    table: TableName
    snapshot_id: int | None = None
    as_of: Instant | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    static: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlInput:
    """A table or a query of a database, over JDBC: exactly one of `table` and `query`. Never followed by a stream."""

    url: JdbcUrl
    table: Name | None = None
    query: SqlQuery | None = None
    user_env: EnvName | None = None
    password_env: EnvName | None = None
    driver: Name | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateInput:
    """Generated rows. A batch has `rows`, a stream `rows_per_second`.

    Attributes:
        columns: name to SQL expression over `id`, which counts from 0; by default the only column is `id`.
    """

    rows: PositiveInt | None = None
    rows_per_second: PositiveInt | None = None
    columns: Mapping[str, SqlExpression] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaInput:
    """Kafka topics: exactly one of `topics` and `pattern`. A batch reads up to the end offsets at its start.

    Attributes:
        format: `json` needs `schema` or `schema_registry`, `avro` a `schema_registry`; `raw` gives the column `value`.
        schema: columns and types of `json`.
        metadata: further columns: `_key`, `_headers`, `_topic`, `_partition`, `_offset`, `_timestamp`.
        start: where the first start begins; later ones of a stream resume from its checkpoint.
        start_time: begin with the first record from then on.
        start_offsets: begin there, by topic and partition; `-2` is the earliest, `-1` the latest.
        dead_letter: the target of unreadable records; without it, one of them fails the run.
        static: in a stream, read once per start instead of followed.
    """

    addresses: tuple[Address, ...]
    topics: tuple[Topic, ...] = ()
    pattern: Pattern | None = None
    format: KafkaFormat
    schema: Ddl | None = None
    schema_registry: SchemaRegistry | None = None
    metadata: tuple[KafkaMetadata, ...] = ()
    start: Literal["earliest", "latest"] = "earliest"
    start_time: Instant | None = None
    start_offsets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    dead_letter: DeadLetter | None = None
    security: KafkaSecurity | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    static: bool = False


InputKind = FileInput | IcebergInput | SqlInput | GenerateInput | KafkaInput | HttpInput
