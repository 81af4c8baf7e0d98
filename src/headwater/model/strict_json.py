"""Strict JSON: one unambiguous reading, or a clear error.

Where RFC 8259 leaves a choice to the parser:

- a duplicate key in an object is refused, and so are NaN, Infinity, a byte order mark and text after the end;
- a lone surrogate escape is read as U+FFFD, in keys too, so every string that comes out can be written as UTF-8;
- integers keep all their digits (up to Python's own limit of 4,300), fractions are 64-bit floats; a number beyond
  either, also one so small that it would turn into 0, is refused rather than silently changed;
- at most `MAX_DEPTH` objects and arrays inside one another, where Python alone would look at the caller's stack too.

Text as most programs write it takes a fast path; the rest takes as long as `json.loads` with an `object_pairs_hook`
(110 and 106 µs for 10 kB, 243 objects). The path of a fault is determined only after one was found.

Source: RFC 8259, sections 4, 6, 8 and 9.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, cast

import orjson

from headwater.errors import InvalidEventError, MalformedJsonError

MAX_DEPTH: Final = 254
"""orjson's limit, so that whatever was parsed can be serialized again."""

_MAX_PATH_CHARS: Final = 200
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: stays
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|.)",
    re.DOTALL,
)
_BRACKET_OR_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
NumberReader = Callable[[str], object]


def parse(raw: bytes) -> Json:
    """Parse one JSON value.

    Raises:
        MalformedJsonError: no JSON; the message gives the position.
        InvalidEventError: a duplicate key, or a number out of range; the message gives its path.
    """
    value = _read_back(raw)
    return cast(Json, _parse(raw) if value is _DIFFERENT else value)


_DIFFERENT: Final = object()
_ESCAPED_BEYOND_JSON: Final = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))
_ESCAPED_BEYOND_ASCII: Final = (("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029"))


def escaped(text: bytes) -> bytes:
    """A JSON text with `<` `>` `&` U+2028 and U+2029 escaped, as signers write it."""
    # None of these can occur outside of strings in JSON, so a plain replacement is safe.
    for character, escape in _ESCAPED_BEYOND_JSON:
        text = text.replace(character, escape)
    if not text.isascii():
        for character, escape in _ESCAPED_BEYOND_ASCII:
            text = text.replace(character, escape)
    return text


def may_contain(raw: bytes, letters: str) -> bool:
    """Whether a string in a JSON text may contain these ASCII letters, plain or escaped; far faster than parsing."""
    return letters.encode() in raw or b"\\u" in raw


def end_of_brackets(text: str, begin: int) -> int | None:
    """The end of the object or array that begins there, at any depth; None if it has none."""
    return next((token.end() for token, depth in _depths(text, begin) if depth == 0), None)


def is_deeper(raw: bytes, value: object, levels: int) -> bool:
    """Whether objects and arrays are nested more than `levels` deep; `raw` is the value's text."""
    if len(raw) <= 2 * levels:  # each level takes two brackets
        return False
    return raw.count(b"{") + raw.count(b"[") > levels and _is_deeper(value, levels)


def _read_back(raw: bytes) -> object:
    """The value, if serializing it again gives the same tokens: then no key was duplicated, and no number changed.

    This is how most programs write, and it takes a third of the time (35 to 55 against 105 µs for 10 kB).
    """
    try:
        value = orjson.loads(raw)
        again = orjson.dumps(value)
        is_same = again == raw or (
            len(again) < len(raw) and (_is_signers(again, raw) or _is_same_but_for_space(again, raw))
        )
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return _DIFFERENT
    return value if is_same and not is_deeper(raw, value, MAX_DEPTH) else _DIFFERENT


def _is_signers(text: bytes, raw: bytes) -> bool:
    """Whether the second text is the first with the escapes that signers add; called only if something is escaped."""
    return b"\\u" in raw and escaped(text) == raw


def _is_same_but_for_space(text: bytes, raw: bytes) -> bool:
    """Whether two JSON texts consist of the same tokens, where the second was parsed and serialized to the first.

    Spaces within strings are ignored too, which is safe: quotes and escapes remain, so tokens stay separate, and the
    strings' content was parsed from the second text.
    """
    return text.translate(None, b" ") == raw.translate(None, b" \t\r\n")


def reader(parse_int: NumberReader, parse_float: NumberReader) -> Callable[[bytes], object]:
    """Create a strict parser that passes each number's literal text to one of two functions.

    These raise ValueError for a number that they cannot represent. The parser raises as `parse` does.
    """
    decoder = JSONDecoder(
        object_pairs_hook=_unique_members,
        parse_int=parse_int,
        parse_float=parse_float,
        parse_constant=_refuse_constant,
    )

    def read(raw: bytes) -> object:
        text = _text(raw)
        try:
            value = _decode(decoder, text)
        except ValueError:
            raise _first_fault(text, parse_int, parse_float) from None
        if text.count("{") + text.count("[") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
            raise _depth_fault(text)
        return value

    return read


def _unique_members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(members)
    if len(unique) != len(members):
        raise ValueError("duplicate key")
    return unique


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError as invalid:
        raise MalformedJsonError(f"event: not UTF-8 at byte {invalid.start}") from None
    if text.startswith("\ufeff"):
        raise MalformedJsonError("event: starts with a byte order mark")
    if "\\" in text and ("\\ud" in text or "\\uD" in text):
        return _ESCAPE.sub(lambda escape: "\\ufffd" if escape["lone"] else escape[0], text)
    return text


def _decode(decoder: JSONDecoder, text: str) -> object:
    try:
        return decoder.decode(text)
    except JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno} (character {fault.pos})"
        raise MalformedJsonError(f"event: not JSON at {where}: {fault.msg}") from None
    except RecursionError:
        raise _depth_fault(text) from None


def _is_deeper(value: object, levels: int) -> bool:
    level = _containers([value])
    for _ in range(levels):
        if not level:
            return False
        level = _containers(child for node in level for child in (node.values() if isinstance(node, dict) else node))
    return bool(level)


def _containers(values: Iterable[object]) -> list[dict[str, object] | list[object]]:
    return [value for value in values if isinstance(value, (dict, list))]


def _depth_fault(text: str) -> MalformedJsonError:
    places = (token.start() for token, depth in _depths(text) if depth > MAX_DEPTH)
    return MalformedJsonError(f"event: more than {MAX_DEPTH} levels deep at character {next(places, len(text))}")


def _depths(text: str, begin: int = 0) -> Iterator[tuple[re.Match[str], int]]:
    """Each bracket or string from there on, and the nesting depth after it."""
    depth = 0
    for token in _BRACKET_OR_STRING.finditer(text, begin):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        yield token, depth


class _Members(list[tuple[str, Any]]):
    """An object's members in the order of the text, including duplicates."""


class _Number(NamedTuple):
    literal: str
    parse: NumberReader


class _Constant(NamedTuple):
    name: str


_DOUBLE: Final = object()
_Path = tuple[str, ...]


def _first_fault(text: str, parse_int: NumberReader, parse_float: NumberReader) -> InvalidEventError:
    tracing = JSONDecoder(
        object_pairs_hook=_Members,
        parse_int=lambda literal: _Number(literal, parse_int),
        parse_float=lambda literal: _Number(literal, parse_float),
        parse_constant=_Constant,
    )
    waiting: list[tuple[_Path, object]] = [((), _decode(tracing, text))]
    while waiting:
        path, value = waiting.pop()
        if fault := _fault(path, value):
            return fault
        waiting += [((*path, step), child) for step, child in reversed(_children(value))]
    raise AssertionError("a text was refused, but no fault was found in it")


def _fault(path: _Path, value: object) -> InvalidEventError | None:
    if value is _DOUBLE:
        return InvalidEventError(f"{_shown(path)}: duplicate key")
    if isinstance(value, _Constant):
        return MalformedJsonError(f"{_shown(path)}: {value.name} is not JSON")
    if isinstance(value, _Number):
        try:
            value.parse(value.literal)
        except ValueError:
            return InvalidEventError(f"{_shown(path)}: the number is out of range ({len(value.literal)} characters)")
    return None


def _children(value: object) -> list[tuple[str, object]]:
    if isinstance(value, _Members):
        firsts: dict[str, int] = {}
        return [
            (key, child if firsts.setdefault(key, place) == place else _DOUBLE)
            for place, (key, child) in enumerate(value)
        ]
    if isinstance(value, list):
        return [(str(place), child) for place, child in enumerate(value)]
    return []


def _shown(path: _Path) -> str:
    joined = ".".join(step if step.isprintable() else ascii(step)[1:-1] for step in path) or "event"
    return joined if len(joined) <= _MAX_PATH_CHARS else f"{joined[:_MAX_PATH_CHARS]}…"


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number) or (not number and any(digit in "123456789" for digit in re.split("[eE]", literal)[0])):
        raise ValueError("out of range")
    return number


_parse: Final = reader(int, _finite)
