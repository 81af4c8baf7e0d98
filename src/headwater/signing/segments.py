"""Where the values of facets stand in an event's bytes, so that one can be erased and the others still be proven.

Facets are looked for where OpenLineage has them: in `facets` of the run, the job and the dataset, and in `facets`,
`inputFacets` and `outputFacets` of each input and output.
"""

from collections.abc import Mapping
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any, Final, NamedTuple

import orjson

from headwater.errors import MalformedJsonError
from headwater.model import strict_json


class FacetPlace(NamedTuple):
    """A facet's value in an event: from which byte up to which, and its path, as `run.facets.parent`."""

    begin: int
    end: int
    path: tuple[str, ...]


Shape = Mapping[str, Any]
_EACH: Final = ""
"""Stands for every element of an array, and every member of an object that holds facets."""
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


def facet_places(raw: bytes, body: object = None) -> list[FacetPlace]:
    """Find the facets of an event, in the order in which they stand there.

    `body` is what `raw` says, for a caller who has read it already; then bytes that were written as most programs
    write are not read again.

    Raises:
        MalformedJsonError: `raw` is no JSON.
    """
    found = _written(raw, body) if isinstance(body, dict) else None
    return _Scanned(raw).places() if found is None else found


class _OtherwiseError(Exception):
    """The event is of another shape."""


_HOLE: Final = b"\0"
"""Stands in no JSON text: within strings it is escaped."""
_FRAGMENT: Final = orjson.Fragment(_HOLE)
_Held = list[tuple[tuple[str, ...], object]]
"""Facets, each with its path."""


def _written(raw: bytes, body: Mapping[str, object]) -> list[FacetPlace] | None:
    """Find facets by writing the event again with a hole in each one's place, and each facet apart.

    None if these do not make the very bytes that stand there. For 10 kB with 11 facets it takes 30 µs, `_Scanned` 200.
    """
    held: _Held = []
    try:
        between = orjson.dumps(_with_holes(body, held)).split(_HOLE)
        values = [orjson.dumps(facet) for _, facet in held]
    except (_OtherwiseError, orjson.JSONEncodeError):
        return None
    if sum(map(len, between)) + sum(map(len, values)) != len(raw):  # a signer escapes more
        between, values = [*map(strict_json.escaped, between)], [*map(strict_json.escaped, values)]
    whole = [text for pair in zip(between, values, strict=False) for text in pair]
    if b"".join((*whole, between[-1])) != raw:
        return None
    found, place = [], 0
    for before, value, (path, _) in zip(between, values, held, strict=False):
        begin, place = place + len(before), place + len(before) + len(value)
        found.append(FacetPlace(begin, place, path))
    return found


def _with_holes(body: Mapping[str, object], held: _Held) -> dict[str, object]:
    """The same event with holes for facets, which come into `held` in their order."""
    shell = dict(body)
    for key, value in body.items():
        shape = _EVENT.get(key)
        if shape is None:
            continue
        if shape is _OF_MANY and isinstance(value, list):
            shell[key] = [
                _owner_with_holes(each, _OF_EACH, (key, str(number)), held) if isinstance(each, dict) else each
                for number, each in enumerate(value)
            ]
        elif shape is _OF_ONE and isinstance(value, dict):
            shell[key] = _owner_with_holes(value, _OF_ONE, (key,), held)
        elif isinstance(value, dict | list):
            raise _OtherwiseError
    return shell


def _owner_with_holes(
    owner: Mapping[str, object], shape: Shape, path: tuple[str, ...], held: _Held
) -> Mapping[str, object]:
    shell: dict[str, object] | None = None
    for key, facets in owner.items():
        if key not in shape or not facets:
            continue
        if isinstance(facets, dict):
            shell = shell or dict(owner)
            held += [((*path, key, name), facet) for name, facet in facets.items()]
            shell[key] = dict.fromkeys(facets, _FRAGMENT)
        elif isinstance(facets, list):
            raise _OtherwiseError
    return shell or owner


_SPACE: Final = " \t\n\r"


class _Scanned:
    """Finds facets in any JSON text."""

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
