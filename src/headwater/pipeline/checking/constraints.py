"""Rules across several keys: `merge` needs `on`, a stream never overwrites, and so on.

A rule is a generator of complaints: the path of a key relative to the rule's subject, and what is wrong with it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from headwater.pipeline.checking import constraints_http as http
from headwater.pipeline.checking import constraints_s3 as s3
from headwater.pipeline.checking.constraints_kafka import kafka_input, kafka_output
from headwater.pipeline.checking.grammar import Draft, Piece
from headwater.pipeline.checking.problems import Complaints, Path, nearest
from headwater.pipeline.checking.reading import INVALID
from headwater.pipeline.spec import (
    AgentSpec,
    CatalogSpec,
    DeadLetter,
    DedupeProcessor,
    FileInput,
    FileOutput,
    GenerateInput,
    HttpInput,
    HttpOutput,
    IcebergInput,
    IcebergOutput,
    KafkaInput,
    KafkaOutput,
    LineageSpec,
    MappingProcessor,
    MetadataProcessor,
    S3Input,
    S3Output,
    SignatureProcessor,
    SqlInput,
    SqlOutput,
    SqlProcessor,
    StdoutOutput,
    StreamSpec,
)
from headwater.pipeline.sql_text import does_more_than_query

SCHEMA_VERSIONS: Final = (1,)
_ELSEWHERE: Final = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*:/")
EMBEDDED_CATALOG: Final = "lake"

_CREDENTIAL_OPTIONS = frozenset({"user", "password"})
_CALLED: Final = re.compile(r"\s*(\w+)\s*\(")
_TRANSFORMS: Final = (
    *("bucket", "truncate", "years", "months", "days", "hours"),
    *("year", "month", "day", "date", "hour", "date_hour", "identity"),
)
"""Iceberg's partition transforms, by their names in its Spark extension."""


def complaints(draft: Draft) -> Complaints:
    """All violations in a draft; parts that could not be read are skipped, since they are reported already."""
    streams = draft.settings.get("mode") == "stream"
    for piece in (*draft.inputs, *draft.processors, *draft.outputs):
        rule = _RULES.get(type(piece.does))
        for path, message in rule(piece.does, streams) if rule else ():
            yield (*piece.path, str(piece.kind), *path), message
    for rule_of_file in _RULES_OF_FILE:
        yield from rule_of_file(draft)


def _file_input(reads: FileInput, streams: bool) -> Complaints:
    if not reads.paths:
        yield ("paths",), "expected at least one path"
    if streams and not reads.static:
        if len(reads.paths) > 1:
            yield ("paths",), "expected one directory or glob for a stream to follow"
        if reads.schema is None and reads.format != "text":
            yield (), "missing key 'schema': a stream cannot infer it from data that has not arrived"


def _iceberg_input(reads: IcebergInput, streams: bool) -> Complaints:
    if reads.snapshot_id is not None and reads.as_of is not None:
        yield ("as_of",), "expected snapshot_id or as_of, found both"
    if streams and not reads.static and (reads.snapshot_id is not None or reads.as_of is not None):
        yield (), "a stream follows the table; snapshot_id and as_of need static: true"


def _sql_input(reads: SqlInput, _: bool) -> Complaints:
    if (reads.table is None) == (reads.query is None):
        yield (), "expected exactly one of table and query"
    yield from _credential_options(reads.options)


def _generate_input(reads: GenerateInput, streams: bool) -> Complaints:
    if streams and (reads.rows is None) == (reads.rows_per_second is None):
        yield (), "expected exactly one of rows_per_second (followed) and rows (read once)"
    if not streams and (reads.rows is None or reads.rows_per_second is not None):
        yield (), "expected rows; rows_per_second is for mode: stream"


def _mapping(does: MappingProcessor, _: bool) -> Complaints:
    if not does.columns and not does.drop:
        yield ("columns",), "expected at least one column"
    if does.drop and not does.keep:
        yield ("drop",), "expected keep: true; without it only the mapped columns are kept"
    known: dict[str, str] = {}
    for target in does.columns:
        if not target.strip():
            yield ("columns",), "expected a column's name, found an empty key"
        if (first := known.setdefault(target.lower(), target)) != target:
            yield ("columns", target), f"column names are case-insensitive, and {first!r} is already mapped"


def _sql(does: SqlProcessor, _: bool) -> Complaints:
    if does_more_than_query(does.query):
        yield ("query",), "expected one query; write to tables through an output, so that lineage includes it"


def _dedupe(does: DedupeProcessor, streams: bool) -> Complaints:
    if not does.keys:
        yield ("keys",), "expected at least one column"
    if does.keep == "last" and not does.order_by:
        yield ("keep",), "expected order_by; without it no row is the last"
    if streams and does.watermark is None:
        yield (), "missing key 'watermark': without it a stream keeps every key in its state forever"
    if streams and does.order_by:
        yield ("order_by",), "a stream keeps the first row that arrives; order_by is for mode: batch"
    if not streams and does.watermark is not None:
        yield ("watermark",), "a batch sees all rows; watermark is for mode: stream"


def _metadata(does: MetadataProcessor, _: bool) -> Complaints:
    if not does.include:
        yield ("include",), "expected at least one group"


def _signature(does: SignatureProcessor, _: bool) -> Complaints:
    if does.target == "metadata" and does.metadata_key in ("body", does.column):
        yield ("metadata_key",), f"expected another name than body and {does.column}"


def _file_output(writes: FileOutput, streams: bool) -> Complaints:
    if streams and writes.mode != "append":
        found = "the default, error" if writes.mode == "error" else writes.mode
        yield ("mode",), f"expected append, as a stream only adds files, found {found}"
    if writes.single_file and (streams or writes.mode == "append" or writes.partition_by):
        yield ("single_file",), "single_file cannot be combined with append, partition_by or mode: stream"


def _iceberg_output(writes: IcebergOutput, streams: bool) -> Complaints:
    if writes.mode == "merge" and not writes.on:
        yield (), "missing key 'on': the columns that identify the row to update"
    if writes.mode != "merge" and writes.on:
        yield ("on",), f"on is for mode: merge, found mode: {writes.mode}"
    if streams and writes.mode == "overwrite":
        yield ("mode",), "expected append or merge: each micro-batch of a stream would overwrite the previous one"
    for number, partition in enumerate(writes.partition_by):
        transform = _CALLED.match(partition)
        if transform is not None and transform[1].lower() not in _TRANSFORMS:
            known = f"expected a column, or {', '.join(_TRANSFORMS)} of one, found {transform[1]}"
            yield ("partition_by", str(number)), known + nearest(transform[1].lower(), _TRANSFORMS)


def _sql_output(writes: SqlOutput, streams: bool) -> Complaints:
    if streams and writes.mode == "overwrite":
        yield ("mode",), "expected append: each micro-batch of a stream would overwrite the previous one"
    yield from _credential_options(writes.options)


def _credential_options(options: Mapping[str, str]) -> Complaints:
    for key in options:
        if key.lower() in _CREDENTIAL_OPTIONS:
            yield (
                ("options", key),
                f"expected {key.lower()}_env next to options, with the name of an environment variable",
            )


def _s3_input(reads: S3Input, streams: bool) -> Complaints:
    yield from _file_input(reads, streams)
    for index, path in enumerate(reads.paths):
        yield from s3.location(path, ("paths", str(index)))
    yield from s3.access(reads)


def _s3_output(writes: S3Output, streams: bool) -> Complaints:
    yield from _file_output(writes, streams)
    yield from s3.location(writes.path, ("path",))
    yield from s3.access(writes)


_RULES: Mapping[type, Callable[[Any, bool], Complaints]] = {
    FileInput: _file_input,
    S3Input: _s3_input,
    HttpInput: http.http_input,
    IcebergInput: _iceberg_input,
    KafkaInput: kafka_input,
    SqlInput: _sql_input,
    GenerateInput: _generate_input,
    SqlProcessor: _sql,
    MappingProcessor: _mapping,
    DedupeProcessor: _dedupe,
    MetadataProcessor: _metadata,
    SignatureProcessor: _signature,
    FileOutput: _file_output,
    S3Output: _s3_output,
    HttpOutput: http.http_call,
    IcebergOutput: _iceberg_output,
    KafkaOutput: kafka_output,
    SqlOutput: _sql_output,
}


def _schema_version(draft: Draft) -> Complaints:
    version = draft.settings.get("schema_version")
    if isinstance(version, int) and version not in SCHEMA_VERSIONS:
        known = " or ".join(map(str, SCHEMA_VERSIONS))
        yield ("schema_version",), f"expected {known}, the version this Headwater reads, found {version}"


def _stream(draft: Draft) -> Complaints:
    stream = draft.settings.get("stream", INVALID)
    if isinstance(stream, StreamSpec):
        if draft.settings.get("mode") != "stream":
            yield ("stream",), "expected mode: stream"
        if stream.available_now and stream.interval is not None:
            yield ("stream", "interval"), "expected interval or available_now, found both"


def _something_followed(draft: Draft) -> Complaints:
    if draft.settings.get("mode") == "stream" and draft.inputs and not any(map(_may_be_followed, draft.inputs)):
        yield ("mode",), "expected an input that a stream can follow, found only inputs that are read once"


def _lineage(draft: Draft) -> Complaints:
    lineage = draft.settings.get("lineage", INVALID)
    if isinstance(lineage, LineageSpec) and _ELSEWHERE.match(lineage.file.path):
        yield (
            ("lineage", "file", "path"),
            "expected a path on this machine: events can be appended to a local file only",
        )


def _agent(draft: Draft) -> Complaints:
    agent, stream = draft.settings.get("agent", INVALID), draft.settings.get("stream", INVALID)
    if not isinstance(agent, AgentSpec):
        return
    if agent.backoff.first > agent.backoff.most:
        yield ("agent", "backoff", "first"), "expected no more than `most`"
    if agent.schedule is None:
        return
    if (agent.schedule.every is None) == (agent.schedule.cron is None):
        yield ("agent", "schedule"), "expected exactly one of every and cron"
    ends = isinstance(stream, StreamSpec) and stream.available_now
    if draft.settings.get("mode") == "stream" and not ends:
        yield (
            ("agent", "schedule"),
            "a stream does not end; schedule is for a batch or a stream with available_now: true",
        )


def _may_be_followed(piece: Piece) -> bool:
    match piece.does:
        case FileInput(static=static) | IcebergInput(static=static) | KafkaInput(static=static):
            return not static
        case GenerateInput(rows=rows):
            return rows is None
        case SqlInput() | HttpInput():
            return False
        case _:
            return True


def _catalogs(draft: Draft) -> Complaints:
    for name, catalog in _declared(draft).items():
        if catalog.type in ("jdbc", "rest") and catalog.uri is None:
            yield ("catalogs", name), f"missing key 'uri': a {catalog.type} catalog needs it"
        if catalog.type in ("jdbc", "hadoop") and catalog.warehouse is None:
            yield ("catalogs", name), f"missing key 'warehouse': a {catalog.type} catalog needs it"


def _tables(draft: Draft) -> Complaints:
    if draft.settings.get("catalogs") is INVALID:
        return  # what is wrong there is reported
    known = [EMBEDDED_CATALOG, *_declared(draft)]
    for path, table in _tables_named(draft):
        catalog = table.split(".")[0]
        if catalog not in known:
            message = f"expected a table of catalog {' or '.join(known)}, found catalog {catalog!r}"
            yield path, message + nearest(catalog, known)


def _tables_named(draft: Draft) -> Iterator[tuple[Path, str]]:
    for piece in (*draft.inputs, *draft.outputs):
        match piece.does:
            case IcebergInput(table=table) | IcebergOutput(table=table):
                yield (*piece.path, "iceberg", "table"), table
            case KafkaInput(dead_letter=DeadLetter(iceberg=IcebergOutput(table=table))):
                yield (*piece.path, "kafka", "dead_letter", "iceberg", "table"), table


def _declared(draft: Draft) -> Mapping[str, CatalogSpec]:
    declared = draft.settings.get("catalogs", INVALID)
    return declared if isinstance(declared, dict) else {}


def _one_stdout(draft: Draft) -> Complaints:
    for piece in [piece for piece in draft.outputs if isinstance(piece.does, StdoutOutput)][1:]:
        yield (*piece.path, "stdout"), "expected at most one stdout output: rows of two could not be told apart"


def _spark(draft: Draft) -> Complaints:
    spark = draft.settings.get("spark", INVALID)
    for key in spark if isinstance(spark, dict) else ():
        if not key.startswith("spark."):
            yield ("spark", key), "expected a key that starts with 'spark.'"


_RULES_OF_FILE: Final = (
    _schema_version,
    _stream,
    _something_followed,
    _lineage,
    _agent,
    _catalogs,
    _tables,
    _one_stdout,
    _spark,
)
