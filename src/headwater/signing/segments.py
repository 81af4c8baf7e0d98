"""The byte ranges of facets in an event, so that one can be erased and the others still be proven.

Facets are found where OpenLineage has them: in `facets` of the run, the job and the dataset, and in `facets`,
`inputFacets` and `outputFacets` of each input and output.
"""

from collections.abc import Mapping, Sequence
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any, Final

from headwater.errors import MalformedJsonError
from headwater.model.outline import FacetPlace, places_of_facets

Shape = Mapping[str, Any]
_EACH: Final = ""
"""Matches every element of an array, and every member of an object that holds facets."""
_FACETS: Final[Shape] = {_EACH: None}
_OF_ONE: Final[Shape] = {"facets": _FACETS}
_OF_EACH: Final[Shape] = {"facets": _FACETS, "inputFacets": _FACETS, "outputFacets": _FACETS}
_OF_MANY: Final[Shape] = {_EACH: _OF_EACH}
_EVENT: Final[Shape] = {
    "run": _OF_ONE,
    "job": _OF_ONE,
    "dataset": _OF_ONE,
    "inputs": _OF_MANY,
    "outputs": _OF_MANY,
}


def facet_places(raw: bytes) -> Sequence[FacetPlace]:
    """Find the facets of an event, in the order of the text.

    Raises:
        MalformedJsonError: `raw` is no JSON.
    """
    found = places_of_facets(raw)
    return _Scanned(raw).places() if found is None else found


_SPACE: Final = " \t\n\r"


class _Scanned:
    """Finds facets in any JSON text, in 200 µs for 10 kB."""

    def __init__(self, raw: bytes) -> None:
        self._text = raw.decode()
        self._decode = JSONDecoder().raw_decode
        self._found: list[FacetPlace] = []

    def places(self) -> list[FacetPlace]:
        try:
            self._value(self._past_space(0), {_EACH: _EVENT}, _EACH, ())
        except (JSONDecodeError, IndexError) as fault:
            raise MalformedJsonError(f"event: not JSON: {fault}") from None
        return self._found if self._text.isascii() else self._in_bytes()

    def _in_bytes(self) -> list[FacetPlace]:
        in_bytes, at, found = 0, 0, []
        for begin, end, path in self._found:
            in_bytes += len(self._text[at:begin].encode())
            length = len(self._text[begin:end].encode())
            found.append(FacetPlace(in_bytes, in_bytes + length, path))
            in_bytes, at = in_bytes + length, end
        return found

    def _value(self, place: int, shape: Shape, key: str, path: tuple[str, ...]) -> int:
        inner = shape.get(key)
        if isinstance(inner, dict):
            if self._text[place] == "{":
                return self._items(place, "}", inner, path)
            if self._text[place] == "[" and _EACH in inner:
                return self._items(place, "]", inner, path)
        _, end = self._decode(self._text, place)
        if key in shape and inner is None:
            self._found.append(FacetPlace(place, end, path))
        return end

    def _items(self, place: int, closing: str, shape: Shape, path: tuple[str, ...]) -> int:
        number = 0
        place = self._past_space(place + 1)
        while self._text[place] != closing:
            if closing == "}":
                key, place = scanstring(self._text, place + 1)
                place = self._past_space(self._past_space(place) + 1)  # the colon
            else:
                key = str(number)
            asked = _EACH if _EACH in shape else key
            place = self._past_space(self._value(place, shape, asked, (*path, key)))
            if self._text[place] == ",":
                place = self._past_space(place + 1)
            number += 1
        return place + 1

    def _past_space(self, place: int) -> int:
        while self._text[place : place + 1] in _SPACE and place < len(self._text):
            place += 1
        return place
