"""Run facets beyond the standard: the counters of a run, ours and Expanso's, and the signature of an event."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from headwater.model.facets.view import Integer, Items, Number, Part, View


def _if_readable(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """None for what cannot be read, so that the counters beside it still can."""
    try:
        return read(value)
    except ValidationError:
        return None


_IF_READABLE: Final = WrapValidator(_if_readable)


class Counters(Part):
    """What a run has counted so far; None where it did not count, or not in numbers."""

    records_in: Annotated[Integer | None, _IF_READABLE] = None
    records_out: Annotated[Integer | None, _IF_READABLE] = None
    bytes_in: Annotated[Integer | None, _IF_READABLE] = None
    bytes_out: Annotated[Integer | None, _IF_READABLE] = None
    error_count: Annotated[Integer | None, _IF_READABLE] = None
    duration_ms: Annotated[Number | None, _IF_READABLE] = None
    stop_reason: Annotated[str | None, _IF_READABLE] = None

    @property
    def counts_any(self) -> bool:
        """Whether anything could be read."""
        return any(getattr(self, name) is not None for name in Counters.model_fields)


class HeadwaterRunFacet(Counters, View):
    """The counters of a run, as Headwater writes them."""

    key: ClassVar = "headwater_run"


class ExpansoCounters(Counters):
    """The same counters under snake_case names."""

    model_config = ConfigDict(alias_generator=str)


class ExpansoRunFacet(View):
    """The counters of a run, as Expanso's edge agent writes them."""

    key: ClassVar = "expanso_run"
    fields: ExpansoCounters


def counters(run_facets: Mapping[str, Any]) -> Counters | None:
    """The counters of a run, from whichever facet has them and can be read; ours goes first."""
    match HeadwaterRunFacet.read(run_facets), ExpansoRunFacet.read(run_facets):
        case HeadwaterRunFacet() as ours, theirs if ours.counts_any or not isinstance(theirs, ExpansoRunFacet):
            return ours
        case _, ExpansoRunFacet(fields=theirs):
            return theirs
    return None


class DeclaredFacet(View):
    """A dataset, job or run that was put over the API, and what no other facet says of it."""

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
    sequence: Integer
    payload_hash: str


class ChainFacet(View):
    """The place of an event in its node's record; `follows` and `unsigned` stand only where there are any."""

    key: ClassVar = "headwater_chain"
    node_id: str
    epoch: str
    sequence: Integer
    previous_hash: str | None = None
    last_checkpoint: Mapping[str, Any] | None = None
    follows: Items[Head] = Field(default_factory=list)
    unsigned: Items[str] = Field(default_factory=list)


class DroppedEvents(Part):
    """How many events a node had to drop, why, and from when to when."""

    events: Integer
    reasons: Mapping[str, Integer] = Field(default_factory=dict)
    first_at: str
    last_at: str
    events_so_far: Integer | None = None


class HeartbeatFacet(View):
    """What a node says for itself: how long it is silent at most, and what it had to drop."""

    key: ClassVar = "headwater_heartbeat"
    interval_seconds: Number
    gap: DroppedEvents | None = None


class EngineCatalogFacet(View):
    """What a query engine means by a catalog: its kind and addresses, or how its tables' names begin elsewhere."""

    key: ClassVar = "headwater_engine_catalog"
    type: str | None = None
    metadata_uri: str | None = None
    warehouse_uri: str | None = None
    namespace: str | None = None
    prefix: str | None = None


class MetadataColumnsFacet(View):
    """What an event listed among a table's columns and is none: its format adds it to rows that are read."""

    key: ClassVar = "headwater_metadata_columns"
    columns: Items[str] | None = None


class SubjectChange(Part):
    """A field that came, went or has another type; `is_breaking` by the rules of the schema's own language."""

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
