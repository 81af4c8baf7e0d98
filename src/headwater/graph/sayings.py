"""What facets say, whoever says it: two that say the same of a dataset make no new version of it."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater.graph.column_edges import ContentReader
from headwater.model.facet_texts import sorted_json

_ABOUT_WHO_TELLS: Final = ("_producer", "_schemaURL")
_POSITION: Final = "ordinal_position"
_KEPT_AT_MOST: Final = 50_000
"""Facets of which is held what they say: two digests each."""


class Sayings:
    """What facets say, by their digests."""

    def __init__(self, content: ContentReader) -> None:
        self._content = content
        self._held: dict[bytes, bytes] = {}

    def of(self, digest: bytes, facet: Mapping[str, Any] | None = None) -> bytes:
        """What the facet with this digest says, itself as a digest; `facet` where it is at hand.

        Members that are null say nothing, nor does the order of columns that tell their positions.
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
        """The same; None where there is no facet."""
        return None if digest is None else self.of(digest)


def without_who_tells(facet: Mapping[str, Any]) -> dict[str, Any]:
    """A facet without what says only who wrote it."""
    return {key: value for key, value in facet.items() if key not in _ABOUT_WHO_TELLS}


def in_their_places(things: Sequence[Any]) -> Sequence[Any]:
    """Columns in the order of their positions, if each tells one of its own; else as they stand."""
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
