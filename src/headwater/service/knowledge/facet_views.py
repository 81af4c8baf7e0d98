"""What facets say, out of their digests: each is read once, and says the same at any time."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from headwater.model.facets.view import View
from headwater.service.shapes.marquez import Field

ViewT = TypeVar("ViewT", bound=View)

_PLACE: Final = "ordinal_position"
_KEPT: Final = 2_000
"""Facets kept as they were read."""


class FacetViews:
    """Facets, read out of a store's contents; what cannot be read of them is passed over."""

    def __init__(self, content: Callable[[bytes], Mapping[str, Any]]) -> None:
        self._content = content
        self._view = lru_cache(maxsize=_KEPT)(self._read_view)
        self._fields_in = lru_cache(maxsize=_KEPT)(self._read_fields)

    def view(self, kind: type[ViewT], digests: Mapping[str, bytes]) -> ViewT | None:
        """A facet out of digests by facet name, or None where it is absent, deleted or cannot be read."""
        return self.read(kind, digests.get(kind.key))

    def read(self, kind: type[ViewT], digest: bytes | None) -> ViewT | None:
        """The facet of that digest, or None where there is none, or it is deleted or cannot be read."""
        return None if digest is None else cast("ViewT | None", self._view(kind, digest))

    def fields(self, schema: bytes | None) -> tuple[Field, ...]:
        """The columns that a schema facet lists, from its digest; one that is deleted lists none.

        Parts that cannot be read are passed over.
        """
        return () if schema is None else self._fields_in(schema)

    def _read_view(self, kind: type[View], digest: bytes) -> View | None:
        return kind.readable({kind.key: self._content(digest)})

    def _read_fields(self, schema: bytes) -> tuple[Field, ...]:
        facet = self._content(schema)
        return () if facet.get("_deleted") is True else tuple(_fields(facet.get("fields")))


def _fields(entries: object) -> Iterable[Field]:
    for entry in _in_place(entries) if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str) and entry["name"]:
            field = Field(
                name=entry["name"], type=_text(entry, "type"), description=_text(entry, "description"), tags=()
            )
            if nested := tuple(_fields(entry.get("fields"))):
                field["fields"] = nested
            yield field


def _in_place(entries: list[Any]) -> list[Any]:
    """The fields by their ordinal position, where each of them has one; else as they were told."""
    places = [place for each in entries if isinstance(each, dict) and isinstance(place := each.get(_PLACE), int)]
    return sorted(entries, key=lambda each: int(each[_PLACE])) if len(places) == len(entries) else entries


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) else None
