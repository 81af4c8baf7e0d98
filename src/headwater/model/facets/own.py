"""Facets beyond the standard: run counters, ours and Expanso's, signatures and others."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, ValidationError

from headwater.model.facets.view import Integer, Items, Number, Part, SmallInteger, View

_Count = Annotated[SmallInteger, Field(ge=0)]


class Counters(Part):
    """A run's counters so far; None where it did not count."""

    records_in: Integer | None = None
    records_out: Integer | None = None
    bytes_in: Integer | None = None
    bytes_out: Integer | None = None
    error_count: Integer | None = None
    duration_ms: Number | None = None
    stop_reason: str | None = None


class HeadwaterRunFacet(Counters, View):
    """The counters of a run, as Headwater writes them."""

    key: ClassVar = "headwater_run"


class ExpansoCounters(Counters):
    """The same counters under snake_case names."""

    model_config = ConfigDict(alias_generator=str)


class ExpansoRunFacet(Counters, View):
    """The counters of a run, as Expanso's edge agent writes them, or with the members of `headwater_run`."""

    key: ClassVar = "expanso_run"
    fields: ExpansoCounters | None = None


def counters(run_facets: Mapping[str, Any]) -> Counters | None:
    """The counters of a run, from whichever facet has any; ours goes first.

    Each is read by itself, so that one that is not a number does not affect the others.
    """
    ours, theirs = (_undeleted(run_facets.get(view.key)) for view in (HeadwaterRunFacet, ExpansoRunFacet))
    found = (
        _counted(Counters, ours),
        _counted(ExpansoCounters, _undeleted((theirs or {}).get("fields"))),
        _counted(Counters, theirs),
    )
    return next((each for each in found if each is not None), None if ours is None else Counters())


def _undeleted(facet: object) -> Mapping[str, Any] | None:
    return facet if isinstance(facet, dict) and facet.get("_deleted") is not True else None


def _counted(view: type[Counters], facet: Mapping[str, Any] | None) -> Counters | None:
    names = (field.alias or name for name, field in view.model_fields.items())
    read = {name: facet[name] for name in names if _is_counter(view, name, facet.get(name))} if facet else {}
    return view.model_validate(read) if read else None


def _is_counter(view: type[Counters], name: str, value: object) -> bool:
    try:
        view.model_validate({name: value})
    except ValidationError:
        return False
    return value is not None


class DeclaredFacet(View):
    """A dataset, job or run that was put over the API, with what no other facet can hold."""

    key: ClassVar = "headwater_declared"
    type: str | None = None
    """Of a job: `BATCH`, `STREAM` or `SERVICE`."""
    physical_name: str | None = None
    schema_location: str | None = None


class SignatureFacet(View):
    """The signature over the event without this facet."""

    key: ClassVar = "signature"
    algorithm: str
    """`Ed25519`."""
    key_id: str
    """`node:<id>#sha256:<digest of the public key>`."""
    payload_hash: str
    """`sha256:<hex>` of the signed bytes."""
    signature: str
    """Base64."""


class Head(Part):
    """The last event of an epoch."""

    epoch: str
    sequence: SmallInteger
    payload_hash: str


class ChainFacet(View):
    """An event's position in its node's chain; `follows` and `unsigned` only if not empty."""

    key: ClassVar = "headwater_chain"
    node_id: str
    epoch: str
    sequence: Integer
    previous_hash: str | None = None
    last_checkpoint: Mapping[str, Any] | None = None
    follows: Items[Head] = Field(default_factory=list)
    unsigned: Items[str] = Field(default_factory=list)


class DroppedEvents(Part):
    """The number of events that a node dropped, the reasons, and the time range."""

    events: _Count
    reasons: Mapping[str, _Count] = Field(default_factory=dict)
    first_at: str
    last_at: str
    events_so_far: Integer | None = None


class HeartbeatFacet(View):
    """A node's announced interval, and the events it dropped."""

    key: ClassVar = "headwater_heartbeat"
    interval_seconds: SmallInteger | float
    gap: DroppedEvents | None = None


class EngineCatalogFacet(View):
    """A query engine's catalog, resolved: its kind and addresses, or the prefix of its tables' names elsewhere."""

    key: ClassVar = "headwater_engine_catalog"
    type: str | None = None
    metadata_uri: str | None = None
    warehouse_uri: str | None = None
    namespace: str | None = None
    prefix: str | None = None


class MetadataColumnsFacet(View):
    """Metadata columns that an event listed among a table's columns."""

    key: ClassVar = "headwater_metadata_columns"
    columns: Items[str] | None = None


class FolderRead(Part):
    """A folder that was read, and how many files or folders in it were named in its place."""

    namespace: str
    name: str
    named: Integer


class FolderReadsFacet(View):
    """The folders that replace files as sources of columns, where the event lists only the folders."""

    key: ClassVar = "headwater_folder_reads"
    folders: Items[FolderRead]


class SubjectChange(Part):
    """A field that was added, removed or retyped; `is_breaking` by the schema language's own rules."""

    field: str
    change: str
    is_breaking: bool


class SubjectFacet(View):
    """The version of a schema registry's subject that a dataset's schema is from.

    `fits_rule` is the registry's judgement, by the subject's own rule, of this version and the one before.
    """

    key: ClassVar = "headwater_subject"
    subject: str
    version: int
    compatibility: str | None = None
    fits_rule: bool | None = None
    changes: Items[SubjectChange] | None = None
