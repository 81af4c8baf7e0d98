"""Digests of facets' content, independent of the producer: equal content makes no new version of a dataset."""

import hashlib
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from headwater.graph.column_edges import ContentReader
from headwater.model.facet_texts import sorted_json

_ABOUT_PRODUCER: Final = ("_producer", "_schemaURL")
_POSITION: Final = "ordinal_position"
_MAX_CACHED: Final = 50_000
"""Cached facets: two digests each."""


class SemanticDigests:
    """Computes and caches semantic digests, by facet digest."""

    def __init__(self, content: ContentReader) -> None:
        self._content = content
        self._cached: dict[bytes, bytes] = {}

    def of(self, digest: bytes, facet: Mapping[str, Any] | None = None) -> bytes:
        """The digest of the facet's meaning; `facet` saves reading it again.

        Null members are ignored, as is the order of columns that give their positions.
        """
        semantic = self._cached.get(digest)
        if semantic is None:
            if len(self._cached) >= _MAX_CACHED:
                self._cached.clear()
            facet = self._content(digest) if facet is None else facet
            meaning = _plain(without_producer(facet))
            semantic = self._cached[digest] = hashlib.sha256(sorted_json(meaning)).digest()
        return semantic

    def of_any(self, digest: bytes | None) -> bytes | None:
        """As `of`; None if there is no facet."""
        return None if digest is None else self.of(digest)


def without_producer(facet: Mapping[str, Any]) -> dict[str, Any]:
    """The facet without the members that only identify its producer."""
    return {key: value for key, value in facet.items() if key not in _ABOUT_PRODUCER}


def in_positional_order(columns: Sequence[Any]) -> Sequence[Any]:
    """Columns sorted by position if each has one, else as they stand."""
    placed = [(place, column) for column in columns if (place := _position(column)) is not None]
    return columns if len(placed) < len(columns) else [column for _, column in sorted(placed, key=itemgetter(0))]


def _position(column: object) -> int | None:
    """The position of a column, which JSON may also write as `7.0`."""
    match column.get(_POSITION) if isinstance(column, dict) else None:
        case bool():
            return None
        case int(place) | float(place) if place == place // 1:
            return int(place)
    return None


def _plain(value: Any) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [*map(_plain, in_positional_order(value))]
    return value
