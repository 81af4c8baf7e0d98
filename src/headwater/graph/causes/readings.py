"""Parsed facets, cached by content: most repeat, byte for byte, with every run of a job."""

from collections.abc import Iterable, Iterator
from typing import TypeVar
from weakref import WeakValueDictionary

from headwater.model.events import Facets
from headwater.model.facet_texts import FacetTexts
from headwater.model.facets.dataset import SchemaFacet, SchemaField
from headwater.model.facets.view import View

ViewT = TypeVar("ViewT", bound=View)


class Columns(dict[str, str | None]):
    """The type of each column in lower case, by name, None where none is reported; nested ones by dotted path."""

    __slots__ = ("__weakref__",)


class Readings:
    """Parses facets; equal facets share one weakly referenced object."""

    def __init__(self) -> None:
        self._views: WeakValueDictionary[tuple[type[View], bytes], View] = WeakValueDictionary()
        self._columns: WeakValueDictionary[bytes, Columns] = WeakValueDictionary()

    def view(self, kind: type[ViewT], facets: Facets) -> ViewT | None:
        """The facet of this kind, or None where it is absent, deleted or cannot be read."""
        digest = _digest(kind, facets)
        known = None if digest is None else self._views.get((kind, digest))
        view = known if isinstance(known, kind) else kind.readable(facets)
        if view is None:
            return None
        if digest is not None:
            self._views[kind, digest] = view
        return view

    def columns(self, facets: Facets) -> Columns | None:
        """The columns of the schema facet, or None if there is none that can be parsed."""
        digest = _digest(SchemaFacet, facets)
        columns = None if digest is None else self._columns.get(digest)
        if columns is None:
            schema = SchemaFacet.readable(facets)
            if schema is None or schema.fields is None:
                return None
            columns = Columns(_columns(schema.fields, ""))
            if digest is not None:
                self._columns[digest] = columns
        return columns


def _digest(kind: type[View], facets: Facets) -> bytes | None:
    """The digest of the facet's text, if it is available as text."""
    text = facets.texts.get(kind.key) if isinstance(facets, FacetTexts) else None
    return None if text is None else text.digest


def _columns(fields: Iterable[SchemaField], outer: str) -> Iterator[tuple[str, str | None]]:
    for each in fields:
        yield f"{outer}{each.name}", (each.type or "").lower() or None
        yield from _columns(each.fields or (), f"{outer}{each.name}.")
