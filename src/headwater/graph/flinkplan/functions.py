"""Rules for functions that do not simply transform all their operands."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from headwater.graph.flinkplan.state import Node
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
"""Functions whose operands cannot be recovered from the value: the same kinds as for Spark."""

_GROUPING_FUNCTIONS: Final = frozenset(("GROUPING", "GROUPING_ID", "GROUP_ID"))
"""They identify a row's grouping set, independent of its data."""

_AGGREGATES: Final = frozenset(("AVG", "COUNT", "LISTAGG", "MAX", "MIN", "SUM"))
"""Aggregates that MATCH_RECOGNIZE calls like scalar functions, without a window."""

_RANKING: Final = frozenset(("CUME_DIST", "DENSE_RANK", "NTILE", "PERCENT_RANK", "RANK", "ROW_NUMBER"))
_OFFSET_FUNCTIONS: Final = frozenset(("LAG", "LEAD"))


def aggregate_inputs(function: str, operands: Sequence[Inputs], condition: Inputs = NOTHING) -> Inputs:
    """The inputs of an aggregate's value; `condition` has those of its FILTER."""
    value = NOTHING if function in _GROUPING_FUNCTIONS else call_inputs(function, operands).through(AGGREGATION)
    return merged([value, condition.through(FILTER)])


def window_inputs(function: str, operands: Sequence[Inputs], specification: Inputs) -> Inputs:
    """The inputs of a window function; `specification` has those of its PARTITION BY and ORDER BY."""
    if function in _RANKING:
        value = merged(operands).through(WINDOW)
    elif function in _OFFSET_FUNCTIONS:
        value = merged(operands).through(TRANSFORMATION)
    else:
        value = aggregate_inputs(function, operands)
    return merged([value, specification.through(WINDOW)])


def call_inputs(function: str, operands: Sequence[Inputs]) -> Inputs:
    """The inputs of a function's value."""
    rule = _RULES.get(function)
    if rule is not None:
        return rule(operands)
    value = merged(operands).through(MASKED if function in _MASKING else TRANSFORMATION)
    return value.through(AGGREGATION) if function in _AGGREGATES else value


def unexpanded(call: Node) -> Node:
    """The aggregate that the user wrote, if the planner has expanded it: its COUNT would make it masking.

    SUM OVER becomes `CASE(COUNT(x) > 0, $SUM0(x), null)`, and AVG OVER that divided by `COUNT(x)`. A variance becomes
    `(SUM(x * x) - SUM(x) * SUM(x) / COUNT(x))` divided by `COUNT(x)` or one less, a standard deviation its root. In
    MATCH_RECOGNIZE, AVG becomes `SUM(x) / COUNT(x)`.
    """
    match call:
        case {
            "op": "/",
            "args": [
                {"op": "-", "args": [squares, {"op": "/", "args": [{"op": "*", "args": [one, other]}, count]}]},
                divisor,
            ],
        }:
            total, count = unexpanded(one), _uncast(count)
            is_of_one = one == other and total is not one and _aggregates_same(count, total)
            is_variance = is_of_one and _sums_squares(squares, total) and _is_divisor(_uncast(divisor), count)
            return total if is_variance else call
        case {"op": "CASE", "args": [{"op": ">", "args": [{"op": "COUNT"} as count, _]}, {"op": "$SUM0"} as total, _]}:
            return total if _aggregates_same(count, total) else call
        case {"op": "/", "args": [{"op": "CASE"} as case, {"op": "COUNT", "partition": _} as count]}:
            total = unexpanded(case)
            return total if total is not case and _aggregates_same(count, total) else call
        case {"op": "/", "args": [{"op": "SUM"} as total, {"op": "COUNT"} as count]}:
            return total if total["args"] == count["args"] else call
        case _:
            return call


def _aggregates_same(one: Node, other: Node) -> bool:
    """Whether two window aggregates have the same operands and window."""
    return "partition" in one and all(one.get(part) == other.get(part) for part in ("args", "partition", "order"))


def _sums_squares(one: Node, total: Node) -> bool:
    """Whether it sums the squares of the operand of `total`, over the same window."""
    (value,) = total["args"]
    return _aggregates_same(unexpanded(one), {**total, "args": [{"kind": "call", "op": "*", "args": [value, value]}]})


def _is_divisor(divisor: Node, count: Node) -> bool:
    """Whether it is the count or, for a sample, the count less one, with null for zero."""
    match divisor:
        case {"op": "CASE", "args": [{"op": "=", "args": [size, one]}, nothing, {"op": "-", "args": [same, less]}]}:
            are_literals = all(part == {"kind": "literal"} for part in (one, nothing, less))
            return are_literals and _uncast(size) == _uncast(same) == count
        case _:
            return divisor == count


def _uncast(expression: Node) -> Node:
    """The operand of a CAST: the planner casts a count to the type of the dividend."""
    return expression["args"][0] if expression.get("op") == "CAST" else expression


def _identity(operands: Sequence[Inputs]) -> Inputs:
    return operands[0]


def _case(operands: Sequence[Inputs]) -> Inputs:
    """CASE: conditions and values alternate, then the value of ELSE."""
    conditions, values = operands[0:-1:2], [*operands[1:-1:2], *operands[-1:]]
    return merged([merged(conditions).through(CONDITIONAL), merged(values).through(TRANSFORMATION)])


def _coalesce(operands: Sequence[Inputs]) -> Inputs:
    """COALESCE: every operand may be the value, and its being null is a condition."""
    if len(operands) == 1:
        return operands[0]
    return merged([merged(operands).through(CONDITIONAL), merged(operands).through(TRANSFORMATION)])


_RULES: Mapping[str, Callable[[Sequence[Inputs]], Inputs]] = {
    "AS": _identity,
    "CASE": _case,
    "COALESCE": _coalesce,
    "FINAL": _identity,
    "IF": _case,
    "IFNULL": _coalesce,
    "REINTERPRET": _identity,
    "RUNNING": _identity,
}
