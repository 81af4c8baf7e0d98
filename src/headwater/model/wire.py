"""The schema of an event's JSON; the first invalid field is named."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from headwater.errors import InvalidEventError
from headwater.model.times import is_leap, read_time, with_offset, without_zone_name

EventType = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]


def _only_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("expected an RFC 3339 date-time string")
    time = without_zone_name(with_offset(value))
    return read_time(time) if is_leap(time) else time


def _in_capitals(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _no_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain the character NUL")
    return value


# Pydantic reads bare numbers as Unix times; the standard knows date-time strings only.
_Time = Annotated[AwareDatetime, BeforeValidator(_only_text), Field(strict=False)]
_Name = Annotated[
    str, StringConstraints(min_length=1), BeforeValidator(lambda v: _no_nul(v) if isinstance(v, str) else v)
]
_DatasetName = Annotated[str, BeforeValidator(lambda v: _no_nul(v) if isinstance(v, str) else v)]
_RunId = _Name  # a UUID says the standard, but its own examples have others; they stay as they are
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


class WireRunEvent(_WireBase):
    """A run changed state, or reported more about itself."""

    eventType: Annotated[EventType, BeforeValidator(_in_capitals)] | None = None
    run: _WireRun
    job: _WireJob
    inputs: list[_WireDataset] | None = None
    outputs: list[_WireDataset] | None = None


class WireJobEvent(_WireBase):
    """A job was declared."""

    job: _WireJob
    inputs: list[_WireDataset] | None = None
    outputs: list[_WireDataset] | None = None


class WireDatasetEvent(_WireBase):
    """A dataset was declared."""

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
_WHERE_NULL_IS_ABSENT = {"string_type", "model_type", "value_error"}


_W = TypeVar("_W", bound=_WireBase)


def event_time(wire: type[_W], body: Mapping[str, Any]) -> datetime:
    """The event time, after validating the event against that class.

    Raises:
        InvalidEventError: it is invalid; the message gives the path of the first bad field, and `missing` all missing
    ones.
    """
    try:
        return wire.model_validate(body).eventTime
    except ValidationError as invalid:
        first, *_ = faults = invalid.errors(include_url=False)
        kind = "missing" if _is_missing(first) else first["type"]
        what = _WORDING.get(kind, first["msg"].removeprefix("Value error, "))
        raise InvalidEventError(f"{_path(first)}: {what}", tuple(map(_path, filter(_is_missing, faults)))) from None


def _is_missing(fault: ErrorDetails) -> bool:
    is_absent = fault["input"] is None and fault["type"] in _WHERE_NULL_IS_ABSENT
    return fault["type"] == "missing" or is_absent


def _path(fault: ErrorDetails) -> str:
    return ".".join(str(step) for step in fault["loc"])
