"""Parsed facets by digest, cached: content is immutable, so a cached facet never becomes stale."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from headwater.graph.semantic_digests import in_positional_order
from headwater.model.facets.lenient import scalar_text
from headwater.model.facets.view import View
from headwater.model.objects import objects, text
from headwater.service.shapes.marquez import Field

ViewT = TypeVar("ViewT", bound=View)

_KEPT: Final = 2_000
"""Parsed facets in the cache."""


class FacetViews:
    """Parses facets from the contents of a store; members of the wrong shape are ignored."""

    def __init__(self, content: Callable[[bytes], Mapping[str, Any]]) -> None:
        self._content = content
        self._view = lru_cache(maxsize=_KEPT)(self._read_view)
        self._fields_in = lru_cache(maxsize=_KEPT)(self._read_fields)

    def view(self, kind: type[ViewT], digests: Mapping[str, bytes]) -> ViewT | None:
        """The facet of that kind among digests by facet name; None if it is absent, deleted or unreadable."""
        return self.read(kind, digests.get(kind.key))

    def read(self, kind: type[ViewT], digest: bytes | None) -> ViewT | None:
        """The facet with that digest; None for no digest, or if the facet is deleted or unreadable."""
        return None if digest is None else cast("ViewT | None", self._view(kind, digest))

    def fields(self, schema: bytes | None) -> tuple[Field, ...]:
        """The columns that a schema facet lists; none if it is deleted. Unreadable parts are ignored."""
        return () if schema is None else self._fields_in(schema)

    def _read_view(self, kind: type[View], digest: bytes) -> View | None:
        return kind.readable({kind.key: self._content(digest)})

    def _read_fields(self, schema: bytes) -> tuple[Field, ...]:
        facet = self._content(schema)
        return () if facet.get("_deleted") is True else tuple(_fields(facet.get("fields")))


def _fields(entries: object) -> Iterable[Field]:
    named = [entry for entry in objects(entries) if text(entry, "name")]
    for entry in in_positional_order(named):
        kind, description = scalar_text(entry.get("type")), scalar_text(entry.get("description"))
        field = Field(name=entry["name"], type=kind, description=description, tags=())
        if nested := tuple(_fields(entry.get("fields"))):
            field["fields"] = nested
        yield field
