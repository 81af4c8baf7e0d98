"""Column types, normalized so that they can be compared across engines, including nested types.

Nested types are in angle brackets (Hive, Spark, Flink, Iceberg), in round ones (Trino), or before square ones
(PostgreSQL: `int[]`). Nullability is not part of a type's name: Flink appends `NOT NULL`.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

_SPELLINGS: Final = {
    "byte": "tinyint",
    "short": "smallint",
    "int16": "smallint",
    "integer": "int",
    "int32": "int",
    "int4": "int",
    "bigint": "long",
    "int64": "long",
    "real": "float",
    "float32": "float",
    "float4": "float",
    "double precision": "double",
    "float64": "double",
    "float8": "double",
    "varchar": "string",
    "character varying": "string",
    "char": "string",
    "text": "string",
    "utf8": "string",
    "binary": "bytes",
    "varbinary": "bytes",
    "bytea": "bytes",
    "blob": "bytes",
    "bool": "boolean",
    "numeric": "decimal",
    "number": "decimal",
    "dec": "decimal",
    "timestamptz": "timestamp with time zone",
    "timestamp_tz": "timestamp with time zone",
    "timestamp_ltz": "timestamp with local time zone",
    "timestamp without time zone": "timestamp",
    "timetz": "time with time zone",
    "time without time zone": "time",
    "list": "array",
    "row": "struct",
}
"""Normalized names; `timestamp_ntz` is absent: Spark's `timestamp` has a zone."""

_HOLDING: Final = {"array": ("item",), "map": ("key", "value"), "struct": ()}
"""Types with nested types; a struct's are named by its fields."""
_CLOSING: Final = {"<": ">", "(": ")", "[": "]"}
_DEEPEST: Final = 100
"""Nesting levels; deeper types are compared as text, since types are untrusted input."""
_NEVER_NULL: Final = " not null"
_MARKS: Final = re.compile(r"[<>()\[\],]")


class Type(NamedTuple):
    """A type by its normalized name, with bounds (`10,2`) and nested types, by name."""

    name: str
    bounds: str = ""
    held: Mapping[str, "Type"] = {}
    is_never_null: bool = False
    """Whether it is declared so; most engines do not report it."""


@lru_cache(maxsize=256)
def read_type(written: str) -> Type:
    """A type as an engine writes it; an unreadable one becomes a type with that name.

    So do types nested deeper than a hundred levels: they are compared as text, in lower case.

    >>> read_type("array<DECIMAL(10, 2)>").held
    {'item': Type(name='decimal', bounds='10,2', held={}, is_never_null=False)}
    >>> read_type("INT NOT NULL")
    Type(name='int', bounds='', held={}, is_never_null=True)
    """
    plain = " ".join(written.lower().split())
    brackets = _brackets(plain)
    return _flat(plain) if brackets is None else _Reading(plain, brackets).type_in(0, len(plain), _DEEPEST)


@dataclass(slots=True)
class _Bracket:
    """A pair of brackets, by position."""

    opening: int
    closing: int = -1
    commas: list[int] = field(default_factory=list)
    """Those directly between the two, in no nested bracket."""


def _brackets(plain: str) -> Sequence[_Bracket] | None:
    """The bracket pairs in opening order, without those nested too deeply; None if they are unbalanced."""
    pairs: list[_Bracket] = []
    open_brackets: list[_Bracket] = []
    closings: list[str] = []
    for found in _MARKS.finditer(plain):
        mark = found[0]
        is_read = len(closings) <= _DEEPEST
        if mark in _CLOSING:
            closings.append(_CLOSING[mark])
            if is_read:
                open_brackets.append(_Bracket(found.start()))
                pairs.append(open_brackets[-1])
        elif mark == ",":
            if closings and is_read:
                open_brackets[-1].commas.append(found.start())
        elif not closings or closings.pop() != mark:
            return None
        elif len(closings) <= _DEEPEST:
            open_brackets.pop().closing = found.start()
    return None if closings else pairs


def _flat(plain: str) -> Type:
    """A type with unbalanced brackets, as far as it can be read: quoted brackets, as in `enum('a(')`."""
    opening, closing = plain.find("("), plain.rfind(")")
    if opening < 0 or closing < opening or "<" in plain[:opening]:
        return Type(plain)
    return _bounded(plain[:opening].rstrip(), plain[opening + 1 : closing], plain[closing + 1 :].strip())


def _bounded(base: str, bounds: str, rest: str) -> Type:
    base = f"{base} {rest}" if rest else base  # timestamp(6) with time zone
    return Type(_SPELLINGS.get(base, base), bounds.replace(" ", ""))


class _Reading:
    """Parses a type with known brackets: each level only looks at text outside of nested brackets."""

    def __init__(self, plain: str, brackets: Sequence[_Bracket]) -> None:
        self._plain = plain
        self._brackets = brackets
        self._openings = [bracket.opening for bracket in brackets]

    def type_in(self, begin: int, end: int, levels: int) -> Type:
        """The type between two positions."""
        begin, end = self._trimmed(begin, end)
        if self._plain.endswith(_NEVER_NULL, begin, end):
            return self._type_in(begin, end - len(_NEVER_NULL), levels)._replace(is_never_null=True)
        return self._type_in(begin, end, levels)

    def _type_in(self, begin: int, end: int, levels: int) -> Type:
        plain = self._plain
        if levels and plain.endswith("[]", begin, end):
            return Type("array", held={"item": self.type_in(begin, end - 2, levels - 1)})
        bracket = self._first(begin, end)
        if bracket is None or plain[bracket.opening] == "[":
            return _named(plain[begin:end])
        opening = plain[bracket.opening]
        base, is_all = plain[begin : bracket.opening].rstrip(), bracket.closing == end - 1
        name = _SPELLINGS.get(base, base)
        if levels and is_all and name in _HOLDING:
            held = self._held(name, bracket, levels - 1)
            return Type(plain[begin:end]) if held is None else Type(name, held=held)
        if opening != "(":
            return _named(plain[begin:end])
        return _bounded(base, plain[bracket.opening + 1 : bracket.closing], plain[bracket.closing + 1 : end].strip())

    def _trimmed(self, begin: int, end: int) -> tuple[int, int]:
        """The range without surrounding spaces: there is at most one on each side."""
        begin += self._plain.startswith(" ", begin, end)
        return begin, end - self._plain.endswith(" ", begin, end)

    def _first(self, begin: int, end: int) -> _Bracket | None:
        """The first pair that opens in the range."""
        place = bisect_left(self._openings, begin)
        return self._brackets[place] if place < len(self._openings) and self._openings[place] < end else None

    def _held(self, name: str, bracket: _Bracket, levels: int) -> dict[str, Type] | None:
        """The nested types by name; None where they cannot be read."""
        begins = [bracket.opening + 1, *(comma + 1 for comma in bracket.commas)]
        parts = [self._trimmed(*part) for part in zip(begins, (*bracket.commas, bracket.closing), strict=True)]
        if name == "struct":
            fields = [self._field(*part) for part in parts]
        elif len(parts) == len(_HOLDING[name]):
            fields = [(each, *part) for each, part in zip(_HOLDING[name], parts, strict=True)]
        else:
            return None
        if not all(each and begin < end for each, begin, end in fields):
            return None
        held = {each: self.type_in(begin, end, levels) for each, begin, end in fields}
        return held if len(held) == len(fields) else None

    def _field(self, begin: int, end: int) -> tuple[str, int, int]:
        """A field's name, and the range of its type: `a: int`, or `a int` as Trino and Flink write it."""
        bracket = self._first(begin, end)
        before = end if bracket is None else bracket.opening
        mark = self._plain.find(":", begin, before)
        if mark < 0:
            mark = self._plain.find(" ", begin, before)
        if mark < 0:
            return "", begin, end
        return self._plain[begin:mark].strip().strip('`"'), *self._trimmed(mark + 1, end)


def _named(plain: str) -> Type:
    return Type(_SPELLINGS.get(plain, plain))
