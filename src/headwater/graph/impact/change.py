"""A proposed change of a dataset or column, and which types a reader can read as which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from headwater.errors import InvalidInputError
from headwater.graph.impact.types import Type, read_type

ChangeKind = Literal["drop", "rename", "retype"]
Fit = Literal["same", "promoted", "other bounds", "may be null", "unreadable"]
"""The result of reading a value of one type as another; `may be null`: the old type was `NOT NULL`."""


@dataclass(frozen=True, slots=True)
class Change:
    """`drop`, `rename:NEW` or `retype:TYPE`; `to` is the text after the colon, empty for `drop`."""

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
"""A reader that expects one of these can read all that precede it."""


def fit(before: str, after: str) -> Fit:
    """How a reader that expects the type `before` reads data of the type `after`, by Avro's schema resolution.

    >>> fit("int", "bigint"), fit("bigint", "int"), fit("varchar(20)", "varchar(10)")
    ('promoted', 'unreadable', 'other bounds')
    >>> fit("INT NOT NULL", "BIGINT NOT NULL"), fit("INT NOT NULL", "BIGINT"), fit("INT", "INT NOT NULL")
    ('promoted', 'may be null', 'promoted')

    Source: Avro 1.12 specification, Schema Resolution. Avro promotes the writer's type to the reader's; for a column
    that widens it is the reverse: its readers must be updated, and can be without loss. Types that Avro lacks (tinyint,
    smallint) widen like its own. Arrays, maps and structs are resolved by their element types, structs by field name,
    and the worst result counts. A reader without null cannot read a union with null: dropping `NOT NULL` breaks
    readers, and adding it counts as promoted.
    """
    return "same" if before == after else _fit(read_type(before), read_type(after))


def is_one_type(one: str, other: str) -> bool:
    """Whether two types are the same apart from nullability.

    >>> is_one_type("BIGINT NOT NULL", "long"), is_one_type("BIGINT NOT NULL", "INT NOT NULL")
    (True, False)
    """
    return one == other or _nullable(read_type(one)) == _nullable(read_type(other))


def _nullable(declared: Type) -> Type:
    return Type(declared.name, declared.bounds, {name: _nullable(held) for name, held in declared.held.items()})


_WORSE: Final[Sequence[Fit]] = ("same", "promoted", "other bounds", "may be null", "unreadable")


def _fit(old: Type, new: Type) -> Fit:
    return max((_fit_of_values(old, new), _fit_of_nulls(old, new)), key=_WORSE.index)


def _fit_of_nulls(old: Type, new: Type) -> Fit:
    if old.is_never_null == new.is_never_null:
        return "same"
    return "promoted" if new.is_never_null else "may be null"


def _fit_of_values(old: Type, new: Type) -> Fit:
    if old.name == new.name:
        bounds: Fit = "same" if old.bounds == new.bounds else "other bounds"
        return max((bounds, *_fits_within(old, new)), key=_WORSE.index)
    if {old.name, new.name} == {"string", "bytes"}:
        return "promoted"
    if old.name in _NUMBERS and new.name in _NUMBERS and _NUMBERS.index(old.name) < _NUMBERS.index(new.name):
        return "promoted"
    return "unreadable"


def _fits_within(old: Type, new: Type) -> Iterator[Fit]:
    """The fit of each nested type, by name; a new field is skipped, a removed one is unreadable."""
    for name, held in old.held.items():
        if name not in new.held:
            yield "unreadable"
        elif old.name == "map" and name == "key":  # never null, declared so or not
            found = _fit_of_values(held, new.held[name])
            # Avro's keys are always strings: they cannot be promoted.
            yield "unreadable" if found == "promoted" else found
        else:
            yield _fit(held, new.held[name])
    if new.held.keys() - old.held.keys():
        yield "promoted"
