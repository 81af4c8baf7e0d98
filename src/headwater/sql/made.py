"""The inputs of an answer's columns, and how they combine when answers are combined."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Final, NamedTuple

from sqlglot import exp

from headwater.sql.names import has_places
from headwater.sql.transformations import Subtype, Transformation, has_all

_RISING: Final[tuple[Subtype, ...]] = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
"""The direct subtypes; of two along one path, the stronger counts."""


class Input(NamedTuple):
    """A column of a table, by the table's flat name, and how it takes part."""

    table: str
    column: str
    how: Transformation


Inputs = frozenset[Input]
NOTHING: Final[Inputs] = frozenset()
SAME: Final = Transformation("DIRECT", "IDENTITY")


class Place(NamedTuple):
    """A column of a query's answer, by position."""

    name: str
    made: Inputs
    is_open: bool = False
    """Whether part of it is unknown; for `*` even which columns there are."""


@dataclass(frozen=True)
class Flow:
    """The inputs of a query's columns, and what decides its rows.

    Attributes:
        places: the columns, in order unless `is_in_order` is False; names may repeat.
    """

    places: tuple[Place, ...]
    rows: Inputs
    is_in_order: bool = True

    @cached_property
    def columns(self) -> dict[str, Inputs]:
        """The inputs by column name."""
        found: dict[str, Inputs] = {}
        for place in self.places:
            found[place.name] = found.get(place.name, NOTHING) | place.made
        return found

    @cached_property
    def gaps(self) -> frozenset[str]:
        """The columns that are not fully known."""
        return frozenset(place.name for place in self.places if place.is_open)

    @cached_property
    def made(self) -> Inputs:
        """The inputs of all columns together."""
        return frozenset[Input]().union(*(place.made for place in self.places))


def merged(flows: Iterable[Flow]) -> Flow:
    """The flow of several queries into the same columns, matched by name."""
    return reduce(_both, flows, Flow((), NOTHING))


def _both(one: Flow, other: Flow) -> Flow:
    if not one.places and not one.rows:
        return other
    names = dict.fromkeys((*one.columns, *other.columns))
    gaps = one.gaps | other.gaps
    places = [
        Place(name, one.columns.get(name, NOTHING) | other.columns.get(name, NOTHING), name in gaps) for name in names
    ]
    return Flow(tuple(places), one.rows | other.rows, one.is_in_order and other.is_in_order)


def taken_as(inputs: Iterable[Input], outer: Transformation) -> Inputs:
    """The inputs of something that itself takes part in this way."""
    return frozenset(Input(each.table, each.column, _through(each.how, outer)) for each in inputs)


def _through(inner: Transformation, outer: Transformation) -> Transformation:
    """How an input takes part in something made from an intermediate value."""
    if outer.kind == "INDIRECT":
        return outer
    if inner.kind == "INDIRECT":
        return inner
    stronger = max(inner.subtype, outer.subtype, key=_RISING.index)
    return Transformation("DIRECT", stronger, inner.masking or outer.masking)


def by_place(values: Sequence[Flow]) -> tuple[Place, ...]:
    """The columns with the names of the first part; positions in the others may be unknown."""
    first, others = values[0], values[1:]
    is_even = all(len(part.places) == len(first.places) for part in others)
    if others and not (is_even and all(part.is_in_order for part in values)):
        return tuple(place._replace(is_open=True) for place in first.places)
    return tuple(
        Place(
            place.name,
            place.made.union(*(part.places[at].made for part in others)),
            place.is_open or any(part.places[at].is_open for part in others),
        )
        for at, place in enumerate(first.places)
    )


def by_name(parts: Sequence[Flow], values: Sequence[Flow], operation: exp.Expr) -> tuple[Place, ...]:
    """The columns that all parts have, or some, depending on the operation."""
    listed = [column.name for column in operation.args.get("on") or ()]
    side, kind = operation.args.get("side"), operation.args.get("kind")
    sought = parts[:1] if side == "LEFT" else parts
    names = dict.fromkeys(listed or (place.name for part in sought for place in part.places))
    if kind == "INNER" and not listed:
        names = {name: None for name in names if all(name in part.columns for part in parts)}
    has_star = any("*" in part.columns for part in parts)
    return tuple(
        Place(
            name,
            frozenset[Input]().union(*(part.columns.get(name, NOTHING) for part in values)),
            has_star or any(name in part.gaps for part in values),
        )
        for name in (*names, *(("*",) if has_star and "*" not in names else ()))
    )


def sorted_by(answer: Flow, order: exp.Expr | None) -> Inputs:
    """The inputs of a set operation's ORDER BY, which names columns of its answer."""
    if order is None or (has_places(order) and not answer.is_in_order):
        return NOTHING
    found = {*(answer.made if has_all(order) else ()), *at_places(answer, order)}
    for column in order.find_all(exp.Column):
        found |= answer.columns.get(column.name, NOTHING)
    return taken_as(found, Transformation("INDIRECT", "SORT"))


def at_places(answer: Flow, order: exp.Expr | None) -> Inputs:
    """The inputs of `1`, `2` … in an ORDER BY; sqlglot leaves these if the column's name is not unique."""
    if order is None or not answer.is_in_order:
        return NOTHING
    numbers = (item.this for item in order.expressions if isinstance(item.this, exp.Literal) and item.this.is_int)
    at = [int(number.name) - 1 for number in numbers]
    return frozenset[Input]().union(*(answer.places[each].made for each in at if 0 <= each < len(answer.places)))
