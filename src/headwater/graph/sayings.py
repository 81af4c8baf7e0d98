"""Digests of what facets say, whoever writes them: equal content makes no new version of a dataset."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater.graph.column_edges import ContentReader
from headwater.model.facet_texts import sorted_json

_ABOUT_WHO_TELLS: Final = ("_producer", "_schemaURL")
_POSITION: Final = "ordinal_position"
_KEPT_AT_MOST: Final = 50_000
"""Cached facets: two digests each."""


class Sayings:
    """Computes and caches semantic digests, by facet digest."""

    def __init__(self, content: ContentReader) -> None:
        self._content = content
        self._held: dict[bytes, bytes] = {}

    def of(self, digest: bytes, facet: Mapping[str, Any] | None = None) -> bytes:
        """The digest of the facet's meaning; `facet` saves reading it again.

        Null members are ignored, as is the order of columns that give their positions.
        """
        said = self._held.get(digest)
        if said is None:
            if len(self._held) >= _KEPT_AT_MOST:
                self._held.clear()
            facet = self._content(digest) if facet is None else facet
            told = _plain(without_who_tells(facet))
            said = self._held[digest] = hashlib.sha256(sorted_json(told)).digest()
        return said

    def of_any(self, digest: bytes | None) -> bytes | None:
        """As `of`; None if there is no facet."""
        return None if digest is None else self.of(digest)


def without_who_tells(facet: Mapping[str, Any]) -> dict[str, Any]:
    """The facet without the members that only identify its producer."""
    return {key: value for key, value in facet.items() if key not in _ABOUT_WHO_TELLS}


def in_their_places(things: Sequence[Any]) -> Sequence[Any]:
    """Columns sorted by position if each has its own, else as they stand."""
    places = [thing.get(_POSITION) if isinstance(thing, dict) else None for thing in things]
    if not all(isinstance(place, int) for place in places) or len({*places}) < len(places):
        return things
    return sorted(things, key=lambda thing: thing[_POSITION])


def _plain(value: Any) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [*map(_plain, in_their_places(value))]
    return value
