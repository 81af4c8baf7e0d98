"""Fields of records, whatever language their schema is in."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

_MOST_FIELDS: Final = 5_000
_MemberT = TypeVar("_MemberT")


class Field(NamedTuple):
    """A field of a record; of a list or a map of records it has the fields of these."""

    name: str
    type: str
    fields: tuple["Field", ...] = ()


class TopicSchema(NamedTuple):
    """The fields of a topic's values, and the version of the subject they are from, if they are from a registry."""

    fields: tuple[Field, ...]
    version: int | None = None


SchemaOf = Callable[[str], TopicSchema | None]
"""Gives the schema of a topic, as far as it is known."""


class FieldBudget:
    """How many fields of one schema are told: records within each other in turns have more than memory has room for."""

    def __init__(self) -> None:
        self._left = _MOST_FIELDS

    def taken(self, members: Sequence[_MemberT]) -> Sequence[_MemberT]:
        """The members of one record, as many of them as there is room for.

        To be asked before what is inside of any of them, which then takes no room from the others.
        """
        taken = members[: self._left]
        self._left -= len(taken)
        return taken


def types(fields: Iterable[Field], prefix: str = "") -> dict[str, str]:
    """The types of fields by dotted path, those of nested ones behind their parent's."""
    found: dict[str, str] = {}
    for field in fields:
        found[f"{prefix}{field.name}"] = field.type
        found |= types(field.fields, f"{prefix}{field.name}.")
    return found
