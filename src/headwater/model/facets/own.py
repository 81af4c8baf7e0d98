"""Run facets beyond the standard: the counters of a run, ours and Expanso's, and the signature of an event."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict

from headwater.model.facets.view import Integer, Number, Part, View


class Counters(Part):
    """What a run has counted so far; None where it did not count."""

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


class ExpansoRunFacet(View):
    """The counters of a run, as Expanso's edge agent writes them."""

    key: ClassVar = "expanso_run"
    fields: ExpansoCounters


def counters(run_facets: Mapping[str, Any]) -> Counters | None:
    """The counters of a run, from whichever facet has them and can be read; ours goes first."""
    match HeadwaterRunFacet.read(run_facets), ExpansoRunFacet.read(run_facets):
        case HeadwaterRunFacet() as ours, _:
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
