"""Types of columns as they are compared: one name for what the engines call differently, down into what they hold.

Engines write what a type holds in angle brackets (Hive, Spark, Flink, Iceberg), in round ones (Trino), or behind square
ones (PostgreSQL: `int[]`).
"""

import re
from collections.abc import Iterator, Mapping
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
"""One name for what the engines call differently; `timestamp_ntz` is none of these: Spark's `timestamp` has a zone."""

_HOLDING: Final = {"array": ("item",), "map": ("key", "value"), "struct": ()}
"""The types that hold others: a struct holds fields by their names."""
_CLOSING: Final = {"<": ">", "(": ")"}
_DEEPEST: Final = 100
"""Levels; what lies deeper is compared as it is written, for anybody may write a type."""
_OPENING: Final = re.compile(r"[<(]")
_MARKS: Final = re.compile(r"[<>()\[\],]")


class Type(NamedTuple):
    """A type by its one name, with its bounds (`10,2`) and the types that it holds, by name."""

    name: str
    bounds: str = ""
    held: Mapping[str, "Type"] = {}


@lru_cache(maxsize=256)
def read_type(written: str) -> Type:
    """A type as an engine writes it; what nobody can read is a type of that name.

    >>> read_type("array<DECIMAL(10, 2)>").held
    {'item': Type(name='decimal', bounds='10,2', held={})}
    """
    return _read(" ".join(written.lower().split()), _DEEPEST)


def _read(plain: str, levels: int) -> Type:
    if plain.endswith("[]") and levels:
        return Type("array", held={"item": _read(plain[:-2].rstrip(), levels - 1)})
    base, opening, inside, rest = _opened(plain)
    name = _SPELLINGS.get(base, base)
    if name in _HOLDING and opening and not rest and levels:
        held = _held(name, [*_split(inside)], levels - 1)
        return Type(plain) if held is None else Type(name, held=held)
    if opening != "(":
        return Type(_SPELLINGS.get(plain, plain))
    base = f"{base} {rest}" if rest else base  # as in timestamp(6) with time zone
    return Type(_SPELLINGS.get(base, base), inside.replace(" ", ""))


def _opened(plain: str) -> tuple[str, str, str, str]:
    """What stands before the first bracket, the bracket, what is in it, and what stands behind it."""
    opening = _OPENING.search(plain)
    last = -1 if opening is None else plain.rfind(_CLOSING[opening[0]], opening.end())
    if opening is None or last < 0:
        return plain, "", "", ""
    return plain[: opening.start()].rstrip(), opening[0], plain[opening.end() : last].strip(), plain[last + 1 :].strip()


def _held(name: str, parts: list[str], levels: int) -> dict[str, Type] | None:
    """What is held, by name; None where that cannot be read."""
    if name == "struct":
        fields = [*map(_field, parts)]
        held = {field: _read(of_type, levels) for field, of_type in fields}
        return held if all(field and of_type for field, of_type in fields) and len(held) == len(fields) else None
    if len(parts) != len(_HOLDING[name]) or not all(parts):
        return None
    return {held: _read(part, levels) for held, part in zip(_HOLDING[name], parts, strict=True)}


def _field(part: str) -> tuple[str, str]:
    """A field's name and type: `a: int`, or as Trino and Flink write it `a int`."""
    marks = [part.index(mark) for mark in "<([" if mark in part]
    colon = part.find(":", 0, min(marks, default=len(part)))
    name, _, of_type = part.partition(" ") if colon < 0 else (part[:colon], ":", part[colon + 1 :])
    return name.strip().strip('`"'), of_type.strip()


def _split(inside: str) -> Iterator[str]:
    """The parts between commas that no bracket holds."""
    depth = begin = 0
    for found in _MARKS.finditer(inside):
        mark = found[0]
        if mark in "<([":
            depth += 1
        elif mark in ">)]":
            depth -= 1
        elif not depth:
            yield inside[begin : found.start()].strip()
            begin = found.end()
    yield inside[begin:].strip()
