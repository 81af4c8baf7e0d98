"""Views of facets, and their parsing, which never raises: strict as a whole, or lenient."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, SchemaValidator

from headwater.model.facets.lenient import lenient_validator

T = TypeVar("T")


class _StopAtFirst(FailFast):
    """FailFast, made hashable so that it can be part of a union."""

    __hash__ = object.__hash__


Items = Annotated[list[T], _StopAtFirst()]
"""The type of a view's field that holds a list, say `Items[str]`: a list as pydantic reads it, but for where it stops.

Reading ends at the first bad item, since a million bad items must not cost a million error records.
"""

Number = int | float
"""A JSON number as written: integers stay exact at any size."""


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Integer = Annotated[int, BeforeValidator(_whole)]
"""A whole number, which JSON may also write as `7.0`."""

SmallInteger = Annotated[Integer, Field(ge=-(2**63), lt=2**63)]
"""A whole number of at most 64 bits, for what is stored outside the facet."""

_OPEN: Final = ConfigDict(strict=True, frozen=True, extra="allow", alias_generator=to_camel)
"""Strict types, snake_case names in Python, and unknown members preserved."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A facet that violates its schema; as text `schema.fields.2.name: is required`."""

    key: str
    """The facet's name, for example `schema`."""
    path: str
    """The path of the first bad field, beginning with the facet's name."""
    message: str
    """The expectation there; never the actual value."""

    def __str__(self) -> str:
        """`path: message`."""
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class Deleted:
    """A tombstone: a facet with `_deleted: true`."""

    key: str


class Part(BaseModel):
    """An object inside a facet."""

    model_config = _OPEN


class View(Part):
    """A facet. `model_dump(by_alias=True, exclude_unset=True)` gives back every member that was read.

    It gives one more, a null, where an unknown member has the name of an attribute which is not there itself: pydantic
    counts `schema_url` as having set `_schemaURL`.

    Source: OpenLineage 2.0.2 `BaseFacet`, https://openlineage.io/spec/2-0-2/OpenLineage.json
    """

    key: ClassVar[str]
    """The facet's name in a mapping of facets."""

    producer: str | None = Field(None, alias="_producer")
    schema_url: str | None = Field(None, alias="_schemaURL")
    deleted: bool | None = Field(None, alias="_deleted")
    """Never true: such a facet is parsed as `Deleted`."""

    @classmethod
    def read(cls, facets: Mapping[str, Any]) -> Self | Deleted | Unreadable | None:
        """Read this facet out of a mapping of facets; never raises.

        Returns:
            None where there is no such facet, or `null` stands in its place.
        """
        facet = facets.get(cls.key)
        if facet is None:
            return None
        if isinstance(facet, dict) and facet.get("_deleted") is True:
            return Deleted(cls.key)
        try:
            return cls.model_validate(facet)
        except ValidationError as invalid:
            return _unreadable(cls.key, facet, invalid)

    @classmethod
    def readable(cls, facets: Mapping[str, Any]) -> Self | None:
        """The readable parts of this facet in a mapping of facets; never raises.

        Items and optional members that cannot be read are left out, and numbers, true and false are taken as text where
        text is expected.

        Returns:
            None where there is no such facet, it is deleted, or something is missing that all the rest hangs on.
        """
        read = cls.read(facets)
        if not isinstance(read, Unreadable):
            return read if isinstance(read, cls) else None
        try:
            return cls.model_validate(_lenient_validator(cls).validate_python(facets[cls.key]))
        except ValidationError:
            return None


@cache
def _lenient_validator(view: type[View]) -> SchemaValidator:
    return lenient_validator(view.__pydantic_core_schema__)


_WORDING: Mapping[str, str] = {
    "bool_type": "expected true or false",
    "date_time": "expected a date and time such as 2026-05-22T14:23:11Z",
    "dict_type": "expected an object",
    "float_type": "expected a number",
    "int_type": "expected a whole number",
    "list_type": "expected an array",
    "missing": "is required",
    "model_attributes_type": "expected an object",
    "model_type": "expected an object",
    "recursion_depth_exceeded": "is nested too deeply",
    "string_type": "expected a string",
}


def _unreadable(key: str, facet: object, invalid: ValidationError) -> Unreadable:
    errors = invalid.errors(include_url=False, include_input=False, include_context=False)
    path = _steps(facet, errors[0])
    # Every alternative of a union fails at the same path: report the last, which is the widest.
    *_, last = takewhile(lambda error: _steps(facet, error) == path, errors)
    return Unreadable(key, ".".join((key, *path)), _WORDING.get(last["type"], "does not match the facet's schema"))


def _steps(facet: object, error: ErrorDetails) -> tuple[str, ...]:
    """The error's path without pydantic's own steps, such as the name of a union's alternative."""
    *outer, last = error["loc"] or ("",)
    steps: list[str] = []
    value: Any = facet
    for step in outer:
        if _holds(value, step):
            value = value[step]
            steps.append(str(step))
    return (*steps, str(last)) if error["type"] == "missing" or _holds(value, last) else tuple(steps)


def _holds(value: object, step: int | str) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and 0 <= step < len(value)
    return isinstance(value, dict) and step in value
