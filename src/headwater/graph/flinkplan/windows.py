"""Rules for windows in time, for patterns in rows, and for functions that make tables."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from headwater.graph.flinkplan.operation import Operation, Rule
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.walk import Node, UnforeseenError
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
_ADDED: Final = 3
"""window_start, window_end and window_time, behind the table's own columns."""


def _function(operation: Operation) -> Scope:
    """A window function over a table, or a function of values that makes rows of its own."""
    call = operation.node["call"]
    if call["op"] in _WINDOWS:
        return _windowed(operation, call)
    if operation.below:
        raise UnforeseenError  # a function of whole tables may do anything with them
    made = operation.inputs(call).through(TRANSFORMATION)
    return Scope((made,) * len(operation.node["columns"]), made.through(JOIN))


def _windowed(operation: Operation, call: Node) -> Scope:
    """The three added columns are made from the time; a session's bounds depend on the rows of its partition, too."""
    below = operation.only
    table, descriptor = call["args"][:2]
    names = operation.node["columns"][: len(below.columns)]
    time = merged(below.columns[names.index(name)] for name in descriptor["names"]).through(TRANSFORMATION)
    partition = merged(below.columns[at] for at in table.get("partition_by", ())).through(WINDOW)
    return replace(below, columns=below.columns + (merged([time, partition]),) * _ADDED)


def _uncollect(operation: Operation) -> Scope:
    """The elements of a collection, with their number behind them where that is wanted; there are as many as it has."""
    width = len(operation.node["columns"])
    element = merged(operation.only.columns).through(TRANSFORMATION)
    numbered = operation.node["ordinality"]
    columns = (element,) * (width - 1) + (NOTHING,) if numbered else (element,) * width
    how_many = NOTHING if _is_of_set_length(operation.node["inputs"][0]) else element.through(JOIN)
    return Scope(columns, operation.rows(how_many))


def _is_of_set_length(collection: Node) -> bool:
    """Whether the query itself says how many elements there are: `ARRAY[x, y]`."""
    return [expression.get("op") for expression in collection.get("expressions", ())] == ["ARRAY"]


def _match(operation: Operation) -> Scope:
    """MATCH_RECOGNIZE with one row a match: the partition's columns, then the measures."""
    node, below = operation.node, operation.only
    if node["all_rows"]:
        raise UnforeseenError
    partition = [below.columns[at] for at in node["partition"]]
    order = merged(below.columns[at] for at in node["order"])
    pattern = merged(operation.inputs(one) for one in node["definitions"])
    time = order.through(TRANSFORMATION)
    columns = (
        *partition,
        *(
            merged([operation.inputs(one), time]) if _asks_for_the_time(one) else operation.inputs(one)
            for one in node["measures"].values()
        ),
    )
    decisive: list[Inputs] = [merged(partition).through(GROUP_BY), order.through(SORT), pattern.through(FILTER)]
    return Scope(columns, operation.rows(*decisive))


def _asks_for_the_time(measure: Node) -> bool:
    """Whether the time of the match, which is that of its last row, goes into it."""
    return measure.get("op") == "MATCH_ROWTIME" or any(map(_asks_for_the_time, measure.get("args", ())))


WINDOW_RULES: Mapping[str, Rule] = {
    "LogicalMatch": _match,
    "LogicalTableFunctionScan": _function,
    "Uncollect": _uncollect,
}
