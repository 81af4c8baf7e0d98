"""Rules of the functions whose operands do not all simply go into the value."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from headwater.graph.flinkplan.walk import Node
from headwater.graph.sparkplan.inputs import (
    AGGREGATION,
    CONDITIONAL,
    FILTER,
    MASKED,
    NOTHING,
    TRANSFORMATION,
    WINDOW,
    Inputs,
    merged,
)

_MASKING: Final = frozenset(
    ("APPROX_COUNT_DISTINCT", "COUNT", "MD5", "SHA1", "SHA2", "SHA224", "SHA256", "SHA384", "SHA512")
)
"""Functions whose operands cannot be read back from their values: the same kinds as count with Spark."""

_WITHOUT_DATA: Final = frozenset(("GROUPING", "GROUPING_ID", "GROUP_ID"))
"""They say which grouping set a row is of, whatever is in it."""

_AGGREGATES: Final = frozenset(("AVG", "COUNT", "LISTAGG", "MAX", "MIN", "SUM"))
"""Those that stand among other functions where rows are matched, without a window."""

_RANKING: Final = frozenset(("CUME_DIST", "DENSE_RANK", "NTILE", "PERCENT_RANK", "RANK", "ROW_NUMBER"))
_NEIGHBOURS: Final = frozenset(("LAG", "LEAD"))


def aggregated(function: str, operands: Sequence[Inputs], condition: Inputs = NOTHING) -> Inputs:
    """The inputs of an aggregate's value; `condition` is what its FILTER reads."""
    value = NOTHING if function in _WITHOUT_DATA else called(function, operands).through(AGGREGATION)
    return merged([value, condition.through(FILTER)])


def windowed(function: str, operands: Sequence[Inputs], specification: Inputs) -> Inputs:
    """The inputs of a function OVER a window, whose partition and order `specification` has."""
    if function in _RANKING:
        value = merged(operands).through(WINDOW)
    elif function in _NEIGHBOURS:
        value = merged(operands).through(TRANSFORMATION)
    else:
        value = aggregated(function, operands)
    return merged([value, specification.through(WINDOW)])


def called(function: str, operands: Sequence[Inputs]) -> Inputs:
    """The inputs of a function's value."""
    rule = _RULES.get(function)
    if rule is not None:
        return rule(operands)
    value = merged(operands).through(MASKED if function in _MASKING else TRANSFORMATION)
    return value.through(AGGREGATION) if function in _AGGREGATES else value


def as_written(call: Node) -> Node:
    """A call as the user wrote it, where the planner has spelled it out.

    SUM OVER becomes `CASE(COUNT(x) > 0, $SUM0(x), null)`, AVG OVER that divided by `COUNT(x)`: neither counts. Nor does
    the variance, `(SUM(x * x) - SUM(x) * SUM(x) / COUNT(x))` over `COUNT(x)` or one less, of which a deviation is the
    root. Among matched rows AVG is `SUM(x) / COUNT(x)`.
    """
    match call:
        case {
            "op": "/",
            "args": [
                {"op": "-", "args": [squares, {"op": "/", "args": [{"op": "*", "args": [one, other]}, count]}]},
                divisor,
            ],
        }:
            total, count = as_written(one), _uncast(count)
            is_spread = one == other and total is not one and _is_over_the_same(count, total)
            return total if is_spread and _is_of_squares(squares, total) and _is_size(_uncast(divisor), count) else call
        case {"op": "CASE", "args": [{"op": ">", "args": [{"op": "COUNT"} as count, _]}, {"op": "$SUM0"} as total, _]}:
            return total if _is_over_the_same(count, total) else call
        case {"op": "/", "args": [{"op": "CASE"} as case, {"op": "COUNT", "partition": _} as count]}:
            total = as_written(case)
            return total if total is not case and _is_over_the_same(count, total) else call
        case {"op": "/", "args": [{"op": "SUM"} as total, {"op": "COUNT"} as count]}:
            return total if total["args"] == count["args"] else call
        case _:
            return call


def _is_over_the_same(one: Node, other: Node) -> bool:
    return "partition" in one and all(one.get(part) == other.get(part) for part in ("args", "partition", "order"))


def _is_of_squares(one: Node, total: Node) -> bool:
    """Whether it sums the squares of what `total` sums, over the same rows."""
    (value,) = total["args"]
    return _is_over_the_same(as_written(one), {**total, "args": [{"kind": "call", "op": "*", "args": [value, value]}]})


def _is_size(divisor: Node, count: Node) -> bool:
    """Whether it is the count, or, for a sample, one less and nothing where that is zero."""
    match divisor:
        case {"op": "CASE", "args": [{"op": "=", "args": [size, one]}, nothing, {"op": "-", "args": [same, less]}]}:
            are_literals = all(part == {"kind": "literal"} for part in (one, nothing, less))
            return are_literals and _uncast(size) == _uncast(same) == count
        case _:
            return divisor == count


def _uncast(expression: Node) -> Node:
    """What is cast: the planner brings a count to the type of what it divides."""
    return expression["args"][0] if expression.get("op") == "CAST" else expression


def _as_it_is(operands: Sequence[Inputs]) -> Inputs:
    return operands[0]


def _case(operands: Sequence[Inputs]) -> Inputs:
    """CASE: condition and value in turns, then the value of ELSE."""
    conditions, values = operands[0:-1:2], [*operands[1:-1:2], *operands[-1:]]
    return merged([merged(conditions).through(CONDITIONAL), merged(values).through(TRANSFORMATION)])


def _first_that_is(operands: Sequence[Inputs]) -> Inputs:
    """COALESCE: every operand may be the value, and whether it is null decides."""
    if len(operands) == 1:
        return operands[0]
    return merged([merged(operands).through(CONDITIONAL), merged(operands).through(TRANSFORMATION)])


_RULES: Mapping[str, Callable[[Sequence[Inputs]], Inputs]] = {
    "AS": _as_it_is,
    "CASE": _case,
    "COALESCE": _first_that_is,
    "FINAL": _as_it_is,
    "IF": _case,
    "IFNULL": _first_that_is,
    "REINTERPRET": _as_it_is,
    "RUNNING": _as_it_is,
}
