"""Rules for window functions, MATCH_RECOGNIZE, and table functions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from headwater.graph.flinkplan.operator import Operator, Rule
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.state import Node, UnsupportedPlanError
from headwater.graph.sparkplan.inputs import (
    FILTER,
    GROUP_BY,
    JOIN,
    NOTHING,
    SORT,
    TRANSFORMATION,
    WINDOW,
    Inputs,
    merged,
)

_WINDOWS: Final = frozenset(("CUMULATE", "HOP", "SESSION", "TUMBLE"))
_WINDOW_COLUMNS: Final = 3
"""window_start, window_end and window_time, after the table's own columns."""


def _function(operator: Operator) -> Scope:
    """A window table-valued function, or a table function of scalar arguments."""
    call = operator.node["call"]
    if call["op"] in _WINDOWS:
        return _windowed(operator, call)
    if operator.below:
        raise UnsupportedPlanError  # a function of a whole table: its columns may depend on anything
    result = operator.inputs(call).through(TRANSFORMATION)
    return Scope((result,) * len(operator.node["columns"]), result.through(JOIN))


def _windowed(operator: Operator, call: Node) -> Scope:
    """The added columns are computed from the time column; SESSION's bounds also depend on its PARTITION BY columns."""
    below = operator.only_child
    table, descriptor = call["args"][:2]
    names = operator.node["columns"][: len(below.columns)]
    time = merged(below.columns[names.index(name)] for name in descriptor["names"]).through(TRANSFORMATION)
    partition = merged(below.columns[at] for at in table.get("partition_by", ())).through(WINDOW)
    return replace(below, columns=below.columns + (merged([time, partition]),) * _WINDOW_COLUMNS)


def _uncollect(operator: Operator) -> Scope:
    """UNNEST: a row per element of a collection, with the element's number last if WITH ORDINALITY."""
    width = len(operator.node["columns"])
    element = merged(operator.only_child.columns).through(TRANSFORMATION)
    numbered = operator.node["ordinality"]
    columns = (element,) * (width - 1) + (NOTHING,) if numbered else (element,) * width
    cardinality = NOTHING if _has_fixed_length(operator.node["inputs"][0]) else element.through(JOIN)
    return Scope(columns, operator.rows(cardinality))


def _has_fixed_length(collection: Node) -> bool:
    """Whether the number of elements is independent of the data: `ARRAY[x, y]`."""
    return [expression.get("op") for expression in collection.get("expressions", ())] == ["ARRAY"]


def _match(operator: Operator) -> Scope:
    """MATCH_RECOGNIZE with ONE ROW PER MATCH: the PARTITION BY columns, then the measures."""
    node, below = operator.node, operator.only_child
    if node["all_rows"]:
        raise UnsupportedPlanError
    partition = [below.columns[at] for at in node["partition"]]
    order = merged(below.columns[at] for at in node["order"])
    pattern = merged(operator.inputs(one) for one in node["definitions"])
    time = order.through(TRANSFORMATION)
    columns = (
        *partition,
        *(
            merged([operator.inputs(one), time]) if _uses_match_time(one) else operator.inputs(one)
            for one in node["measures"].values()
        ),
    )
    row_inputs: list[Inputs] = [merged(partition).through(GROUP_BY), order.through(SORT), pattern.through(FILTER)]
    return Scope(columns, operator.rows(*row_inputs))


def _uses_match_time(measure: Node) -> bool:
    """Whether the measure uses the match's time, that of its last row."""
    return measure.get("op") == "MATCH_ROWTIME" or any(map(_uses_match_time, measure.get("args", ())))


WINDOW_RULES: Mapping[str, Rule] = {
    "LogicalMatch": _match,
    "LogicalTableFunctionScan": _function,
    "Uncollect": _uncollect,
}
