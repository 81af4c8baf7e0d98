"""The three OpenLineage events, read from the bytes that came and kept beside them.

Strict where identity hangs on it (times, run ids, names, the shape of `inputs` and `outputs`), open everywhere else:
whatever a facet holds stays in `facets` as it was written, and an unknown member stays in `raw`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, cast

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from headwater.errors import InvalidEventError
from headwater.model import plain, strict_json
from headwater.model.names import DatasetId, JobId, run_id_of
from headwater.model.value import value

EventType = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]
Direction = Literal["input", "output"]
Facets = Mapping[str, Mapping[str, Any]]


NO_FACETS: Facets = {}


class Stamp(NamedTuple):
    """When a thing happened: what later writers are compared by.

    `time_us` is the event time in microseconds since 1970, UTC; `digest` breaks ties, so that any order of arrival
    gives the same winner.
    """

    time_us: int
    digest: bytes


@value
class DatasetRef:
    """A dataset as an event mentions it; `id` may have an empty namespace or name, which is for quarantine."""

    id: DatasetId
    facets: Facets = field(default_factory=dict)
    direction_facets: Facets = field(default_factory=dict)
    """`inputFacets` of an input, `outputFacets` of an output."""


@value
class RunEvent:
    """A run changed its state, or told more about itself."""

    raw: bytes
    stamp: Stamp
    event_type: EventType
    run_id: str
    """As it was sent; a UUID in lower case."""
    job: JobId
    run_facets: Facets
    job_facets: Facets
    inputs: tuple[DatasetRef, ...]
    outputs: tuple[DatasetRef, ...]
    body: Mapping[str, Any]


@value
class JobEvent:
    """A job was declared, without a run."""

    raw: bytes
    stamp: Stamp
    job: JobId
    job_facets: Facets
    inputs: tuple[DatasetRef, ...]
    outputs: tuple[DatasetRef, ...]
    body: Mapping[str, Any]


@value
class DatasetEvent:
    """A dataset was declared, without a run."""

    raw: bytes
    stamp: Stamp
    dataset: DatasetRef
    body: Mapping[str, Any]


Event = RunEvent | JobEvent | DatasetEvent


def parse_event(raw: bytes) -> Event:
    """Read an event from UTF-8 JSON.

    An event with a run is a run event, else one with a job a job event, else a dataset event. `null` in the place of
    an optional member counts as absent.

    Raises:
        MalformedJsonError: the bytes are no JSON document.
        InvalidEventError: the message gives the path of the first bad field.

    Source: OpenLineage 2.0.2, https://openlineage.io/spec/2-0-2/OpenLineage.json
    """
    body = strict_json.parse(raw)
    if not isinstance(body, dict):
        raise InvalidEventError("event: expected an object")
    digest = hashlib.sha256(raw).digest()
    if body.get("run") is not None:
        time = plain.time_of_run_event(body) or _validated(_WireRunEvent, body).eventTime
        return _run_event(raw, _stamp(time, digest), body)
    if body.get("job") is not None:
        return _job_event(raw, _stamp(_validated(_WireJobEvent, body).eventTime, digest), body)
    if body.get("dataset") is not None:
        time = _validated(_WireDatasetEvent, body).eventTime
        return DatasetEvent(raw, _stamp(time, digest), _ref(cast(Mapping[str, Any], body["dataset"])), body)
    raise InvalidEventError("event: expected one of run (with job), job or dataset")


def _run_event(raw: bytes, stamp: Stamp, body: Mapping[str, Any]) -> RunEvent:
    """The event, of which all that is read here is known to be as it must be."""
    run, job = body["run"], body["job"]
    return RunEvent(
        raw=raw,
        stamp=stamp,
        event_type=body.get("eventType") or "OTHER",
        run_id=run_id_of(run["runId"]),
        job=JobId(job["namespace"], job["name"]),
        run_facets=run.get("facets") or NO_FACETS,
        job_facets=job.get("facets") or NO_FACETS,
        inputs=tuple([_ref(dataset) for dataset in body.get("inputs") or ()]),
        outputs=tuple([_ref(dataset) for dataset in body.get("outputs") or ()]),
        body=body,
    )


def _job_event(raw: bytes, stamp: Stamp, body: Mapping[str, Any]) -> JobEvent:
    job = body["job"]
    return JobEvent(
        raw=raw,
        stamp=stamp,
        job=JobId(job["namespace"], job["name"]),
        job_facets=job.get("facets") or NO_FACETS,
        inputs=tuple([_ref(dataset) for dataset in body.get("inputs") or ()]),
        outputs=tuple([_ref(dataset) for dataset in body.get("outputs") or ()]),
        body=body,
    )


def _ref(dataset: Mapping[str, Any]) -> DatasetRef:
    of_direction = dataset.get("inputFacets") or dataset.get("outputFacets") or NO_FACETS
    return DatasetRef(
        DatasetId(dataset["namespace"], dataset["name"]), dataset.get("facets") or NO_FACETS, of_direction
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _stamp(time: datetime, digest: bytes) -> Stamp:
    since = time - _EPOCH
    return Stamp((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds, digest)


def _only_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("expected an RFC 3339 date-time string")
    return value


def _no_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not hold the character NUL")
    return value


# Pydantic reads bare numbers as Unix times; the standard knows date-time strings only.
_Time = Annotated[AwareDatetime, BeforeValidator(_only_text), Field(strict=False)]
_Name = Annotated[
    str, StringConstraints(min_length=1), BeforeValidator(lambda v: _no_nul(v) if isinstance(v, str) else v)
]
_DatasetName = Annotated[str, BeforeValidator(lambda v: _no_nul(v) if isinstance(v, str) else v)]
_RunId = _Name  # a UUID says the standard, but its own examples have others; they are kept as they are
_Facets = dict[str, dict[str, Any]]


class _Wire(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _WireDataset(_Wire):
    namespace: _DatasetName
    name: _DatasetName
    facets: _Facets | None = None
    inputFacets: _Facets | None = None
    outputFacets: _Facets | None = None


class _WireJob(_Wire):
    namespace: _Name
    name: _Name
    facets: _Facets | None = None


class _WireRun(_Wire):
    runId: _RunId
    facets: _Facets | None = None


class _WireBase(_Wire):
    eventTime: _Time
    producer: str
    schemaURL: str | None = None


class _WireRunEvent(_WireBase):
    eventType: EventType | None = None
    run: _WireRun
    job: _WireJob
    inputs: list[_WireDataset] | None = None
    outputs: list[_WireDataset] | None = None


class _WireJobEvent(_WireBase):
    job: _WireJob
    inputs: list[_WireDataset] | None = None
    outputs: list[_WireDataset] | None = None


class _WireDatasetEvent(_WireBase):
    dataset: _WireDataset


_WORDING = {
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "list_type": "expected an array",
    "string_type": "expected a string",
    "missing": "is required",
    "string_too_short": "must not be empty",
    "timezone_aware": "expected a time with its offset from UTC, such as 2026-05-22T14:23:11Z",
}


_W = TypeVar("_W", bound=_WireBase)


def _validated(wire: type[_W], body: Mapping[str, Any]) -> _W:
    try:
        return wire.model_validate(body)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(step) for step in first["loc"])
        what = _WORDING.get(first["type"], first["msg"].removeprefix("Value error, "))
        raise InvalidEventError(f"{path}: {what}") from None
