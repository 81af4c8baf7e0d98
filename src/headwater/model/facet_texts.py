"""Facets as written, each text parsed once and cached: most repeat, byte for byte, with every run of a job."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from headwater.errors import InvalidEventError
from headwater.model import strict_json
from headwater.model.credentials import may_hold_secrets, without_secrets_in
from headwater.model.sources import names_sources

_KEPT_BYTES: Final = 16 * 1024 * 1024
"""Cache size of each of two generations."""
_LONGEST_KEPT: Final = 256 * 1024
_AROUND_A_FACET: Final = 5
"""Nesting levels around a facet's value, as in `inputs.0.facets.schema`."""


_Facet = Mapping[str, Any]


class FacetText(NamedTuple):
    """A facet as written: a JSON object that can be parsed in only one way."""

    text: bytes
    digest: bytes
    """SHA-256 of `body`."""
    body: bytes
    """The same value with sorted keys, and passwords in addresses stripped."""
    names_sources: bool
    """Whether it is a lineage facet that names sources."""
    has_secrets: bool = False
    """Whether the text has secrets that were stripped from the body."""


class FacetTexts(Mapping[str, Mapping[str, Any]]):
    """Facets by name, each parsed on access, or when its text is new."""

    __slots__ = ("_read", "texts")

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        """Take facets as written.

        Raises:
            InvalidEventError: a facet is no object, is ambiguous JSON, or is nested too deeply.
        """
        self.texts: dict[str, FacetText] = {}
        self._read: dict[str, Mapping[str, Any]] = {}
        for name, text in texts.items():
            facet = _recent.found(text)
            if facet is None:
                self._read[name], facet = _stripped(text) or _sorted(text) or _unsorted(text)
                _recent.keep(facet)
            self.texts[name] = facet

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        """The parsed facet."""
        if (value := self._read.get(name)) is None:
            facet = self.texts[name]
            value = self._read[name] = _object(facet.body if facet.has_secrets else facet.text)
        return value

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401  as in any mapping
        """The parsed facet or the default; most lookups miss, where `Mapping.get` would pay for a KeyError."""
        return self[name] if name in self.texts else default

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of the text."""
        return iter(self.texts)

    def __len__(self) -> int:
        """The number of facets."""
        return len(self.texts)

    def __contains__(self, name: object) -> bool:
        """Whether there is a facet by that name, without parsing it."""
        return name in self.texts


def sorted_json(value: object) -> bytes:
    """The JSON of a value with its keys sorted, so that equal values have equal bytes."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # integers beyond 64 bits, which JSON allows and orjson does not write
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _stripped(text: bytes) -> tuple[_Facet, FacetText] | None:
    """A facet that may contain passwords, with these stripped; None if it contains none."""
    if not may_hold_secrets(text):
        return None
    sent = _object(text)
    value = without_secrets_in(sent)
    return value, _facet_text(text, sorted_json(value), value)._replace(has_secrets=value != sent)


def _sorted(text: bytes) -> tuple[_Facet, FacetText] | None:
    """A facet whose text already is its sorted JSON, as signers write it, and so is unambiguous; None for any other."""
    try:
        value = orjson.loads(text)
        if orjson.dumps(value, option=orjson.OPT_SORT_KEYS) != text:
            return None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return _checked(text, value), _facet_text(text, text, value)


def _unsorted(text: bytes) -> tuple[_Facet, FacetText]:
    value = _object(text)
    return value, _facet_text(text, sorted_json(value), value)


def _facet_text(text: bytes, body: bytes, value: _Facet) -> FacetText:
    return FacetText(text, hashlib.sha256(body).digest(), body, names_sources(value))


def _object(text: bytes) -> _Facet:
    return _checked(text, strict_json.parse(text))


def _checked(text: bytes, value: object) -> _Facet:
    if not isinstance(value, dict):
        raise InvalidEventError("facet: expected an object")
    if strict_json.is_deeper(text, value, strict_json.MAX_DEPTH - _AROUND_A_FACET):
        raise InvalidEventError("facet: too deep")
    return value


class Recent:
    """A cache of recent facets by text, in two generations of limited size; thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._newer: dict[bytes, FacetText] = {}
        self._older: dict[bytes, FacetText] = {}
        self._newer_bytes = 0

    def found(self, text: bytes) -> FacetText | None:
        """The cached facet with that text."""
        facet = self._newer.get(text)
        if facet is None and (facet := self._older.get(text)) is not None:
            self.keep(facet)
        return facet

    def keep(self, facet: FacetText) -> None:
        """Cache a facet; the older generation is dropped when the newer one is full."""
        if len(facet.text) > _LONGEST_KEPT:
            return
        self._newer[facet.text] = facet
        self._newer_bytes += len(facet.text) + len(facet.body)
        if self._newer_bytes > self._max_bytes:
            self._older, self._newer, self._newer_bytes = self._newer, {}, 0


_recent: Final = Recent(_KEPT_BYTES)
