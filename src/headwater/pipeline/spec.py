"""A checked pipeline file, as typed values: what `check` promises and what execution relies on.

These dataclasses are also the grammar: `checking.reading` walks a YAML file against their fields, so a new key is a new
field, and a new kind of input, processor or output is a dataclass here and an entry in `checking.grammar`.

Frames. Every input and every processor gives one frame. A frame's id is the name of its input, the `name` of its
processor, or `processors.N` where a processor has no name. Every `from` is resolved, so execution only looks up ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from headwater.pipeline.terms import (
    Address,
    Cron,
    Ddl,
    EnvName,
    FrameName,
    FunctionName,
    HttpUrl,
    Instant,
    JdbcUrl,
    Location,
    Name,
    Pattern,
    PositiveInt,
    RuleId,
    Seconds,
    SqlExpression,
    SqlQuery,
    TableName,
    Text,
    TimeZone,
    Topic,
)

Mode = Literal["batch", "stream"]
FileFormat = Literal["csv", "json", "parquet", "text"]
KafkaFormat = Literal["json", "avro", "raw"]
KafkaMetadata = Literal["key", "headers", "topic", "partition", "offset", "timestamp"]
MetadataGroup = Literal["core", "pipeline", "node"]

METADATA_FIELDS: Mapping[MetadataGroup, tuple[str, ...]] = {
    "core": ("run_id", "job_namespace", "job_name", "started_at"),
    "pipeline": ("pipeline_file", "schema_version", "pipeline_sha256"),
    "node": ("node_id", "host"),
}
"""What each group of the `metadata` processor stamps on a row: `started_at` is a timestamp, the rest are strings."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the pipeline file, for messages: `Place("pipeline.processors.0", 12)`."""

    path: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput:
    """Files that are read as one frame.

    Attributes:
        paths: files, directories or globs; a stream takes exactly one.
        schema: columns and types; without it Spark looks at the data. A stream needs it, but for `text`.
        options: handed to Spark's reader as they are.
        static: in a stream, read once per start instead of followed.
    """

    paths: tuple[Location, ...]
    format: FileFormat
    schema: Ddl | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    static: bool = False


@dataclass(frozen=True, kw_only=True)  # no slots: Python allows one base class with them
class S3Access:
    """How a bucket is reached, where not as the environment says to every AWS tool.

    Attributes:
        endpoint: of an S3 other than Amazon's; it is then asked with the bucket in the path.
        access_key_env: the environment variable with the id of the access key.
        secret_key_env: the environment variable with its secret.
        session_token_env: the environment variable with the session's token, where there is one.
    """

    endpoint: HttpUrl | None = None
    region: Name | None = None
    access_key_env: EnvName | None = None
    secret_key_env: EnvName | None = None
    session_token_env: EnvName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Input(FileInput, S3Access):
    """Objects of a bucket that are read as one frame: files, with a bucket's own credentials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAuth:
    """How an API is shown who asks: `bearer` and `header` take a token, `basic` user and password.

    Attributes:
        header: of `header`, the name of the header with the token.
        token_env: the environment variable with the token.
    """

    type: Literal["bearer", "basic", "header"]
    header: Name | None = None
    token_env: EnvName | None = None
    user_env: EnvName | None = None
    password_env: EnvName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """How an API hands out its records page by page.

    Attributes:
        by: `page` counts pages, `offset` records; `cursor` is a value of the answer; `link` the `Link` with rel=next.
        parameter: of the query, for the page's number, the offset or the cursor; by default named as `by`.
        first: the first page's number.
        size: records of a full page; a smaller one is the last.
        size_parameter: of the query, for `size`.
        next: where in the answer the cursor stands, such as `meta.next`; the last page has none.
    """

    by: Literal["page", "offset", "cursor", "link"]
    parameter: Name | None = None
    first: int = 1
    size: PositiveInt | None = None
    size_parameter: Name | None = None
    next: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """What every call to an API has.

    Attributes:
        timeout: for connecting, sending and each wait for an answer.
        retries: how often a call is made again that failed for now: no answer, 408, 425, 429 or 5xx.
    """

    url: HttpUrl
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: HttpAuth | None = None
    timeout: Seconds = 30.0
    retries: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpInput(HttpCall):
    """JSON records of an API, fetched once per start.

    Attributes:
        records: where in the answer the list of records stands, such as `data.items`; None: the answer is the list.
        schema: columns and types; without it Spark looks at the records.
        params: of the query.
        most_pages: an API that hands out more fails the run.
    """

    records: Name | None = None
    schema: Ddl | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    paging: Paging | None = None
    most_pages: PositiveInt = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergInput:
    """An Iceberg table, now or as it was: at most one of `snapshot_id` and `as_of` (with a time zone).

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
    """Made-up rows. A batch says `rows`, a stream `rows_per_second`.

    Attributes:
        columns: name to SQL expression over `id`, which counts from 0; without any, the one column is `id`.
    """

    rows: PositiveInt | None = None
    rows_per_second: PositiveInt | None = None
    columns: Mapping[str, SqlExpression] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSecurity:
    """How a broker is spoken to, where not in plain text.

    Attributes:
        mechanism: how user and password are shown, with SASL.
        user_env: the environment variable with the user.
        password_env: the environment variable with the password.
    """

    protocol: Literal["SSL", "SASL_SSL", "SASL_PLAINTEXT"]
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    user_env: EnvName | None = None
    password_env: EnvName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRegistry:
    """A schema registry that speaks Confluent's API.

    Attributes:
        subject: the subject of the topic's values; None: TOPIC-value.
        from_version: the first version that is read; None: all that the subject has.
    """

    url: HttpUrl
    subject: Name | None = None
    from_version: PositiveInt | None = None
    user_env: EnvName | None = None
    password_env: EnvName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaOutput:
    """A Kafka topic: at least once, also in a stream.

    Attributes:
        format: `json` and `avro` write all columns but key and headers; `raw` the one column `value`.
        key: the column that becomes the records' key.
        headers: the column that becomes their headers, an ARRAY<STRUCT<key STRING, value BINARY>>.
        schema_registry: of `avro`, where the schema is registered under TOPIC-value.
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
class FileOutput:
    """Files under `path`.

    Attributes:
        mode: `error` fails where `path` has anything already; a stream only appends.
        single_file: `path` is one file, not a directory of part files. Not with `append`, `partition_by` or a stream.
    """

    path: Location
    format: FileFormat
    mode: Literal["error", "append", "overwrite"] = "error"
    partition_by: tuple[Name, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    single_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergOutput:
    """An Iceberg table.

    Attributes:
        mode: `overwrite` replaces all rows in one snapshot; `merge` updates rows equal in `on` and inserts the others.
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
class DeadLetter:
    """Where records go that cannot be read: exactly one of the three."""

    iceberg: IcebergOutput | None = None
    file: FileOutput | None = None
    kafka: KafkaOutput | None = None

    @property
    def writes(self) -> "IcebergOutput | FileOutput | KafkaOutput | None":
        """The one that is given; a topic gets the record's own key, and its headers with the reason added."""
        topic = None if self.kafka is None else replace(self.kafka, key="key", headers="headers")
        return self.iceberg or self.file or topic


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaInput:
    """Topics of Kafka: exactly one of `topics` and `pattern`. A batch reads what is there when it starts.

    Attributes:
        format: `json` needs `schema` or `schema_registry`, `avro` a `schema_registry`; `raw` gives the column `value`.
        schema: columns and types of `json`.
        metadata: what else becomes a column: `_key`, `_headers`, `_topic`, `_partition`, `_offset`, `_timestamp`.
        start: where the first start begins; later ones of a stream go on from its checkpoint.
        start_time: begin with the first record from then on.
        start_offsets: begin there, by topic and partition; `-2` is the earliest, `-1` the latest.
        dead_letter: where records go that cannot be read; without, one of them fails the run.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input; `name` is its frame and its table in SQL."""

    name: FrameName
    reads: InputKind
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlProcessor:
    """A query over `Processor.views`."""

    query: SqlQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingProcessor:
    """Columns by expression.

    Attributes:
        columns: target to expression over the source frame, in order.
        keep: whether the other columns stay, before the mapped ones; one mapped under its own name changes in place.
        drop: with `keep`, columns that go all the same.
    """

    columns: Mapping[str, SqlExpression]
    keep: bool = False
    drop: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterProcessor:
    """Rows for which the condition is true; null is not true."""

    condition: SqlExpression


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How late a row may come: behind the newest timestamp in `column` by `delay`; later ones may be dropped."""

    column: Name
    delay: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeProcessor:
    """One row per value of `keys`.

    Attributes:
        order_by: columns, ascending; which row is kept is arbitrary without. Not in a stream.
        keep: the first or the last row in that order.
        watermark: how long a stream remembers a key; a stream needs it, a batch has none.
    """

    keys: tuple[Name, ...]
    order_by: tuple[Name, ...] = ()
    keep: Literal["first", "last"] = "first"
    watermark: Watermark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonProcessor:
    """A function `(DataFrame, **options) -> DataFrame`; options are plain values, lists and mappings."""

    function: FunctionName
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataProcessor:
    """Stamps every row with where it comes from, so that it joins back to its run's events.

    Attributes:
        include: groups of `METADATA_FIELDS`.
        target: the row itself.
        format: `nested` gives one struct column `body_key`; `flat` one column a field, its name after `prefix`.
    """

    include: tuple[MetadataGroup, ...] = ("core",)
    target: Literal["body"] = "body"
    format: Literal["nested", "flat"] = "nested"
    body_key: Name = "lineage"
    prefix: FrameName = "lineage_"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureProcessor:
    """Signs every record with the node's key, into the struct column `column`; must be the last that changes a row.

    Attributes:
        target: what is signed: all other columns, or the one that `metadata` made.
        metadata_key: that column; of `metadata`, its `body_key`.
    """

    target: Literal["body", "metadata"] = "body"
    column: Name = "signature"
    metadata_key: Name = "lineage"


ProcessorKind = (
    SqlProcessor
    | MappingProcessor
    | FilterProcessor
    | DedupeProcessor
    | PythonProcessor
    | MetadataProcessor
    | SignatureProcessor
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """One step.

    Attributes:
        frame: id of the frame it gives.
        source: id of the frame it works on; None only for a `sql` that comes first over several inputs.
        views: what its SQL may name, to frame id: every input and every named step before it, and `input` for `source`.
    """

    does: ProcessorKind
    frame: str
    source: str | None
    views: Mapping[str, str]
    place: Place
    name: FrameName | None = None


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
class StdoutOutput:
    """The first `rows` rows (of every micro-batch, in a stream) on standard output."""

    rows: PositiveInt = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Output(FileOutput, S3Access):
    """Objects under a path of a bucket: files, with a bucket's own credentials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOutput(HttpCall):
    """An API that takes rows as JSON: at least once.

    Attributes:
        format: `json`, a list a call; `lines`, an object a line.
        batch_size: the most rows of a call.
    """

    method: Literal["POST", "PUT"] = "POST"
    format: Literal["json", "lines"] = "json"
    batch_size: PositiveInt = 500


OutputKind = FileOutput | IcebergOutput | SqlOutput | StdoutOutput | KafkaOutput | HttpOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One output of the frame with id `source`; `name` is for messages and metrics."""

    writes: OutputKind
    source: str
    place: Place
    name: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageAuth:
    """How the HTTP transport proves itself: a bearer token, by the name of its environment variable."""

    type: Literal["bearer"]
    token_env: EnvName


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageHttp:
    """Where events are posted."""

    endpoint: HttpUrl = "http://localhost:5000/api/v1/lineage"
    timeout: Seconds = 3.0
    auth: LineageAuth | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageFile:
    """The file events are appended to, one a line, and the size at which a new one is begun."""

    path: Location = "events.jsonl"
    rotation_size_mb: PositiveInt = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageSpec:
    """What is told about a run, and where.

    Attributes:
        transport: which of `http` and `file` are used.
        drain_timeout: how long the end of a run waits for events to go out; what is left stays in the spool.
        running_interval: time between a stream's RUNNING events.
        heartbeat: after so long without an event the node says that it is there; 0 turns that off.
    """

    enabled: bool = True
    transport: Literal["http", "file", "both"] = "http"
    queue_size: PositiveInt = 1024
    drain_timeout: Seconds = 5.0
    running_interval: Seconds = 10.0
    heartbeat: Seconds = 300.0
    http: LineageHttp = LineageHttp()
    file: LineageFile = LineageFile()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSpec:
    """An Iceberg catalog. `lake` is the embedded one (JDBC on SQLite in HEADWATER_HOME) unless the file says otherwise.

    Attributes:
        uri: of a `jdbc` or `rest` catalog.
        warehouse: where tables are kept.
        options: further catalog properties as Iceberg names them (`io-impl`, `s3.endpoint`, …).
        options_env: secret ones, by the name of their environment variable (`credential: ICEBERG_CREDENTIAL`).
    """

    type: Literal["jdbc", "rest", "glue", "hadoop"]
    uri: Name | None = None
    warehouse: Location | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    options_env: Mapping[str, EnvName] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSpec:
    """How a stream runs.

    Attributes:
        checkpoint: the stream checkpoint; None: a directory of HEADWATER_HOME, by namespace and name.
        interval: time from one micro-batch's start to the next; None: at once.
        available_now: take what is there in micro-batches, then end. Not with `interval`.
    """

    checkpoint: Location | None = None
    interval: Seconds | None = None
    available_now: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When the agent starts a pipeline that ends: exactly one of `every` and `cron`.

    Attributes:
        every: from one start to the next; the first start is at once.
        cron: at these times of the wall clock in `timezone`.
    """

    every: Seconds | None = None
    cron: Cron | None = None
    timezone: TimeZone = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long the agent waits before it starts again: `first`, then twice as long each time, up to `most`.

    An execution that ran for longer than `most` counts as healthy: after it, the wait is `first` again.
    """

    first: Seconds = 1.0
    most: Seconds = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """How an agent runs the pipeline; `headwater run` runs it once, whatever stands here.

    Attributes:
        schedule: None: it is started once it is deployed.
        restart: `always` starts again after a clean end too, `never` leaves it to the schedule, or to a person.
    """

    schedule: Schedule | None = None
    restart: Literal["on-failure", "always", "never"] = "on-failure"
    backoff: Backoff = Backoff()


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSpec:
    """Rules of `headwater lint` that this file does without, by id."""

    ignore: tuple[RuleId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSpec:
    """A whole pipeline file.

    Attributes:
        schema_version: of this grammar; None where the file does not say (a lint finding), read as 1.
        catalogs: only those that the file declares.
        spark: further Spark configuration, `spark.…` keys.
        source: the file, absolute.
        source_sha256: of the file's bytes, 64 lower-case hex digits; `--set` does not change it.
    """

    name: Name
    namespace: Name
    schema_version: int | None = None
    mode: Mode = "batch"
    description: Text | None = None
    owners: tuple[Name, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Input]
    processors: tuple[Processor, ...] = ()
    outputs: tuple[Output, ...]
    lineage: LineageSpec = LineageSpec()
    catalogs: Mapping[str, CatalogSpec] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    stream: StreamSpec = StreamSpec()
    agent: AgentSpec = AgentSpec()
    lint: LintSpec = LintSpec()
    source: Path
    source_sha256: str

    @property
    def dead_letters(self) -> tuple[Output, ...]:
        """An output for every input that has somewhere to put what cannot be read; its frame is `dead_letter_frame`."""
        return tuple(
            Output(
                writes=writes,
                source=dead_letter_frame(one.name),
                place=Place(f"{one.place.path}.kafka.dead_letter", one.place.line),
            )
            for one in self.inputs.values()
            if isinstance(one.reads, KafkaInput) and one.reads.dead_letter and (writes := one.reads.dead_letter.writes)
        )

    @property
    def all_outputs(self) -> tuple[Output, ...]:
        """What is written: the file's outputs, then the dead letters."""
        return (*self.outputs, *self.dead_letters)


def dead_letter_frame(name: str) -> str:
    """The id of the frame with what could not be read of an input; no name has a dot, so it is nobody else's."""
    return f"{name}.dead_letter"
