"""The kinds of step of a pipeline file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from headwater.pipeline.terms import FrameName, FunctionName, Name, Seconds, SqlExpression, SqlQuery

MetadataGroup = Literal["core", "pipeline", "node"]


METADATA_FIELDS: Mapping[MetadataGroup, tuple[str, ...]] = {
    "core": ("run_id", "job_namespace", "job_name", "started_at"),
    "pipeline": ("pipeline_file", "schema_version", "pipeline_sha256"),
    "node": ("node_id", "host"),
}
"""The fields that each group of the `metadata` processor adds to a row: `started_at` is a timestamp, others strings."""


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
        drop: with `keep`, columns that are removed nevertheless.
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
    """How late a row may be: by `delay` behind the newest timestamp in `column`; later rows may be dropped."""

    column: Name
    delay: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeProcessor:
    """One row per value of `keys`.

    Attributes:
        order_by: columns, ascending; without it an arbitrary row is kept. Not in a stream.
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
    """Adds its origin to every row, so that it can be joined to its run's events.

    Attributes:
        include: groups of `METADATA_FIELDS`.
        target: the row itself.
        format: `nested` gives one struct column `body_key`; `flat` one column per field, with `prefix`.
    """

    include: tuple[MetadataGroup, ...] = ("core",)
    target: Literal["body"] = "body"
    format: Literal["nested", "flat"] = "nested"
    body_key: Name = "lineage"
    prefix: FrameName = "lineage_"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureProcessor:
    """Signs every record with the node's key, into the struct column `column`; must be the last step that changes rows.

    Attributes:
        target: what is signed: all other columns, or the one from `metadata`.
        metadata_key: the name of that column, which is the `body_key` of `metadata`.
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
