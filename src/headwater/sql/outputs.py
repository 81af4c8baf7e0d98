"""The output columns of a query with their inputs, and how those of several queries combine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Final, NamedTuple

from sqlglot import exp

from headwater.sql.names import has_ordinals
from headwater.sql.transformations import Subtype, Transformation, has_all

_BY_STRENGTH: Final[tuple[Subtype, ...]] = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
"""The direct subtypes; of two along one path, the stronger counts."""


class Input(NamedTuple):
    """A column of a table, by the table's flat name, and its transformation."""

    table: str
    column: str
    how: Transformation


Inputs = frozenset[Input]
NOTHING: Final[Inputs] = frozenset()
SAME: Final = Transformation("DIRECT", "IDENTITY")


class OutputColumn(NamedTuple):
    """An output column of a query."""

    name: str
    inputs: Inputs
    is_incomplete: bool = False
    """Whether part of the inputs is unknown; for `*`, even which columns there are."""


@dataclass(frozen=True)
class QueryLineage:
    """The inputs of a query's output columns, and of its rows.

    Attributes:
        outputs: the columns, in order unless `is_in_order` is False; names may repeat.
        rows: the inputs that decide which rows there are.
    """

    outputs: tuple[OutputColumn, ...]
    rows: Inputs
    is_in_order: bool = True

    @cached_property
    def columns(self) -> dict[str, Inputs]:
        """The inputs by column name."""
        found: dict[str, Inputs] = {}
        for output in self.outputs:
            found[output.name] = found.get(output.name, NOTHING) | output.inputs
        return found

    @cached_property
    def gaps(self) -> frozenset[str]:
        """The columns whose inputs are incomplete."""
        return frozenset(output.name for output in self.outputs if output.is_incomplete)

    @cached_property
    def all_inputs(self) -> Inputs:
        """The inputs of all columns together."""
        return frozenset[Input]().union(*(output.inputs for output in self.outputs))


def merged(lineages: Iterable[QueryLineage]) -> QueryLineage:
    """The lineage of one or several queries into the same columns, matched by name."""
    return reduce(_merged_pair, lineages)


def _merged_pair(one: QueryLineage, other: QueryLineage) -> QueryLineage:
    names = dict.fromkeys((*one.columns, *other.columns))
    gaps = one.gaps | other.gaps
    outputs = [
        OutputColumn(name, one.columns.get(name, NOTHING) | other.columns.get(name, NOTHING), name in gaps)
        for name in names
    ]
    return QueryLineage(tuple(outputs), one.rows | other.rows, one.is_in_order and other.is_in_order)


def used_as(inputs: Iterable[Input], outer: Transformation) -> Inputs:
    """The inputs of a value, for something that uses the value with this transformation."""
    return frozenset(Input(each.table, each.column, _composed(each.how, outer)) for each in inputs)


def _composed(inner: Transformation, outer: Transformation) -> Transformation:
    """The transformation of an input that reaches an output through an intermediate value."""
    if outer.kind == "INDIRECT":
        return outer
    if inner.kind == "INDIRECT":
        return inner
    stronger = max(inner.subtype, outer.subtype, key=_BY_STRENGTH.index)
    return Transformation("DIRECT", stronger, inner.masking or outer.masking)


def by_position(branches: Sequence[QueryLineage]) -> tuple[OutputColumn, ...]:
    """The columns of a set operation, named as in the first branch; incomplete if positions in a branch are unknown."""
    first, others = branches[0], branches[1:]
    is_even = all(len(branch.outputs) == len(first.outputs) for branch in others)
    if others and not (is_even and all(branch.is_in_order for branch in branches)):
        return tuple(output._replace(is_incomplete=True) for output in first.outputs)
    return tuple(
        OutputColumn(
            output.name,
            output.inputs.union(*(branch.outputs[at].inputs for branch in others)),
            output.is_incomplete or any(branch.outputs[at].is_incomplete for branch in others),
        )
        for at, output in enumerate(first.outputs)
    )


def by_name(
    branches: Sequence[QueryLineage], values: Sequence[QueryLineage], operation: exp.Expr
) -> tuple[OutputColumn, ...]:
    """The columns of a set operation BY NAME: those of all branches, or of some, depending on the operation.

    `values` are the branches whose values are in the result: for EXCEPT and INTERSECT the first one only.
    """
    listed = [column.name for column in operation.args.get("on") or ()]
    side, kind = operation.args.get("side"), operation.args.get("kind")
    sought = branches[:1] if side == "LEFT" else branches
    names = dict.fromkeys(listed or (output.name for branch in sought for output in branch.outputs))
    if kind == "INNER" and not listed:
        names = {name: None for name in names if all(name in branch.columns for branch in branches)}
    has_star = any("*" in branch.columns for branch in branches)
    return tuple(
        OutputColumn(
            name,
            frozenset[Input]().union(*(branch.columns.get(name, NOTHING) for branch in values)),
            has_star or any(name in branch.gaps for branch in values),
        )
        for name in (*names, *(("*",) if has_star and "*" not in names else ()))
    )


def sorted_by(result: QueryLineage, order: exp.Expr | None) -> Inputs:
    """The inputs of a set operation's ORDER BY, which refers to its output columns."""
    if order is None or (has_ordinals(order) and not result.is_in_order):
        return NOTHING
    found = {*(result.all_inputs if has_all(order) else ()), *by_ordinals(result, order)}
    for column in order.find_all(exp.Column):
        found |= result.columns.get(column.name, NOTHING)
    return used_as(found, Transformation("INDIRECT", "SORT"))


def by_ordinals(result: QueryLineage, order: exp.Expr | None) -> Inputs:
    """The inputs of `1`, `2` … in an ORDER BY; sqlglot leaves these if the column's name is not unique."""
    if order is None or not result.is_in_order:
        return NOTHING
    numbers = (item.this for item in order.expressions if isinstance(item.this, exp.Literal) and item.this.is_int)
    at = [int(number.name) - 1 for number in numbers]
    return frozenset[Input]().union(*(result.outputs[each].inputs for each in at if 0 <= each < len(result.outputs)))
