"""Fields of records, whatever language their schema is in."""

from collections.abc import Callable, Iterable
from typing import NamedTuple


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


def types(fields: Iterable[Field], prefix: str = "") -> dict[str, str]:
    """The types of fields by dotted path, those of nested ones behind their parent's."""
    found: dict[str, str] = {}
    for field in fields:
        found[f"{prefix}{field.name}"] = field.type
        found |= types(field.fields, f"{prefix}{field.name}.")
    return found
