"""A change that somebody proposes for a dataset or column, and which types a reader can read as which."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from headwater.errors import InvalidInputError

ChangeKind = Literal["drop", "rename", "retype"]
Fit = Literal["same", "promoted", "other bounds", "unreadable"]
"""How a value of one type is read by who expects another."""


@dataclass(frozen=True, slots=True)
class Change:
    """`drop`, `rename:NEW` or `retype:TYPE`; `to` is what stands after the colon, empty for `drop`."""

    kind: ChangeKind
    to: str = ""

    @classmethod
    def parse(cls, text: str) -> "Change":
        """Read a change as the API and the command write it.

        >>> Change.parse("retype:decimal(10,2)")
        Change(kind='retype', to='decimal(10,2)')

        Raises:
            InvalidInputError: it is none of the three, or says not to what.
        """
        kind, colon, to = text.partition(":")
        match kind.strip(), to.strip():
            case "drop", "" if not colon:
                return cls("drop")
            case ("rename" | "retype") as known, what if what:
                return cls("rename" if known == "rename" else "retype", what)
        raise InvalidInputError(f"change: expected drop, rename:NEW or retype:TYPE, found {text[:200]!r}")


_NUMBERS: Final = ("tinyint", "smallint", "int", "long", "float", "double")
"""A reader who expects one of these reads all that stand before it."""

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
}
"""One name for what the engines call differently."""

_BOUNDED: Final = re.compile(r"(?P<base>[^(<]+?)\s*\((?P<bounds>[^)]*)\)\s*")


def fit(before: str, after: str) -> Fit:
    """How data of the type `after` is read by who expects `before`, by Avro's rules of schema resolution.

    >>> fit("int", "bigint"), fit("bigint", "int"), fit("varchar(20)", "varchar(10)")
    ('promoted', 'unreadable', 'other bounds')

    Source: Avro 1.12 specification, Schema Resolution. Avro promotes what was written to what the reader expects; a
    column that widens is the same the other way around: its readers must come along, and can without loss. Types that
    Avro lacks (tinyint, smallint) widen like its own.
    """
    (old, old_bounds), (new, new_bounds) = _read(before), _read(after)
    if old == new:
        return "same" if old_bounds == new_bounds else "other bounds"
    if {old, new} == {"string", "bytes"}:
        return "promoted"
    if old in _NUMBERS and new in _NUMBERS and _NUMBERS.index(old) < _NUMBERS.index(new):
        return "promoted"
    return "unreadable"


def _read(written: str) -> tuple[str, str]:
    """A type's one name, and what stands in its brackets."""
    plain = " ".join(written.lower().split())
    bounded = _BOUNDED.fullmatch(plain)
    base, bounds = (bounded["base"], bounded["bounds"].replace(" ", "")) if bounded else (plain, "")
    return _SPELLINGS.get(base, base), bounds
