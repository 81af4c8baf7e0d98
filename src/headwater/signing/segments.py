"""The byte ranges of facets in an event, so that one can be erased and the others still be proven.

Facets are found where OpenLineage has them: in `facets` of the run, the job and the dataset, and in `facets`,
`inputFacets` and `outputFacets` of each input and output.
"""

from collections.abc import Mapping, Sequence
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any, Final

from headwater.errors import MalformedJsonError
from headwater.model.outline import FacetSpan, fast_facet_spans

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


def facet_spans(raw: bytes) -> Sequence[FacetSpan]:
    """Find the facets of an event, in the order of the text.

    Raises:
        MalformedJsonError: `raw` is not JSON.
    """
    found = fast_facet_spans(raw)
    return _Scanned(raw).spans() if found is None else found


_SPACE: Final = " \t\n\r"


class _Scanned:
    """Finds facets in any JSON text, in 200 µs for 10 kB."""

    def __init__(self, raw: bytes) -> None:
        self._text = raw.decode()
        self._decode = JSONDecoder().raw_decode
        self._found: list[FacetSpan] = []

    def spans(self) -> list[FacetSpan]:
        try:
            self._value(self._past_space(0), {_EACH: _EVENT}, _EACH, ())
        except (JSONDecodeError, IndexError) as fault:
            raise MalformedJsonError(f"event: not JSON: {fault}") from None
        return self._found if self._text.isascii() else self._in_bytes()

    def _in_bytes(self) -> list[FacetSpan]:
        in_bytes, at, found = 0, 0, []
        for begin, end, path in self._found:
            in_bytes += len(self._text[at:begin].encode())
            length = len(self._text[begin:end].encode())
            found.append(FacetSpan(in_bytes, in_bytes + length, path))
            in_bytes, at = in_bytes + length, end
        return found

    def _value(self, at: int, shape: Shape, key: str, path: tuple[str, ...]) -> int:
        inner = shape.get(key)
        if isinstance(inner, dict):
            if self._text[at] == "{":
                return self._items(at, "}", inner, path)
            if self._text[at] == "[" and _EACH in inner:
                return self._items(at, "]", inner, path)
        _, end = self._decode(self._text, at)
        if key in shape and inner is None:
            self._found.append(FacetSpan(at, end, path))
        return end

    def _items(self, at: int, closing: str, shape: Shape, path: tuple[str, ...]) -> int:
        number = 0
        at = self._past_space(at + 1)
        while self._text[at] != closing:
            if closing == "}":
                key, at = scanstring(self._text, at + 1)
                at = self._past_space(self._past_space(at) + 1)  # the colon
            else:
                key = str(number)
            asked = _EACH if _EACH in shape else key
            at = self._past_space(self._value(at, shape, asked, (*path, key)))
            if self._text[at] == ",":
                at = self._past_space(at + 1)
            number += 1
        return at + 1

    def _past_space(self, at: int) -> int:
        while self._text[at : at + 1] in _SPACE and at < len(self._text):
            at += 1
        return at
