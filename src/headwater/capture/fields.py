"""Fields of records, independent of the schema language."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

_MOST_FIELDS: Final = 5_000
_MemberT = TypeVar("_MemberT")


class Field(NamedTuple):
    """A field of a record; for a list or a map of records, `fields` are those of the records."""

    name: str
    type: str
    fields: tuple["Field", ...] = ()


class TopicSchema(NamedTuple):
    """The fields of a topic's values, and their subject's version if they are from a registry."""

    fields: tuple[Field, ...]
    version: int | None = None


SchemaOf = Callable[[str], TopicSchema | None]
"""Returns the schema of a topic; None if unknown."""


class FieldBudget:
    """Limits the fields reported of one schema: mutually nested records could have more than memory can hold."""

    def __init__(self) -> None:
        self._left = _MOST_FIELDS

    def taken(self, members: Sequence[_MemberT]) -> Sequence[_MemberT]:
        """The members of one record, as many as the budget allows.

        To be called before descending into any member, so that its content takes no room from the others.
        """
        taken = members[: self._left]
        self._left -= len(taken)
        return taken


def types(fields: Iterable[Field], prefix: str = "") -> dict[str, str]:
    """The types of fields by dotted path, nested fields after their parents."""
    found: dict[str, str] = {}
    for field in fields:
        found[f"{prefix}{field.name}"] = field.type
        found |= types(field.fields, f"{prefix}{field.name}.")
    return found
