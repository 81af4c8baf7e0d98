"""One rule for each operator of a query."""

from collections.abc import Mapping
from dataclasses import replace

from headwater.graph.flinkplan.functions import aggregated
from headwater.graph.flinkplan.operation import Operation, Rule, beside
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.sparkplan.inputs import FILTER, GROUP_BY, JOIN, NOTHING, SORT, Inputs, Source, merged


def _scan(operation: Operation) -> Scope:
    origin = operation.ledger.origin_of(tuple(operation.node["table"]))
    return Scope(tuple(Inputs.of(Source(origin, name)) for name in operation.node["columns"]))


def _values(operation: Operation) -> Scope:
    return Scope((NOTHING,) * len(operation.node["columns"]))


def _unchanged(operation: Operation) -> Scope:
    return operation.only


def _project(operation: Operation) -> Scope:
    columns = tuple(operation.inputs(one) for one in operation.node["expressions"])
    return Scope(columns, operation.rows())


def _filter(operation: Operation) -> Scope:
    condition = operation.inputs(operation.node["condition"]).through(FILTER)
    return replace(operation.only, rows=operation.rows(condition))


def _join(operation: Operation) -> Scope:
    condition = operation.inputs(operation.node["condition"]).through(JOIN)
    return _joined(operation, operation.rows(condition))


def _correlate(operation: Operation) -> Scope:
    """For each row on the left a query on the right: what decides the rows of that joins them."""
    left, right = operation.below
    return _joined(operation, merged([left.rows, right.rows.through(JOIN)]))


def _joined(operation: Operation, rows: Inputs) -> Scope:
    both = operation.below[:1] if operation.node["join"] in ("SEMI", "ANTI") else operation.below
    return replace(beside(both), rows=rows)


def _snapshot(operation: Operation) -> Scope:
    """A table as of a time, which decides the version of each row: with event time by when each version was made."""
    period = operation.inputs(operation.node["period"])
    is_now = period.equals(NOTHING)
    made = NOTHING if is_now else merged(operation.only.columns[at] for at in operation.node["rowtime"])
    return replace(operation.only, rows=operation.rows(merged([period, made]).through(JOIN)))


def _aggregate(operation: Operation) -> Scope:
    columns = operation.only.columns
    groups = [columns[at] for at in operation.node["group"]]
    values = [
        aggregated(
            call["op"],
            [columns[at] for at in call["args"]],
            columns[call["filter"]] if "filter" in call else NOTHING,
        )
        for call in operation.node["calls"]
    ]
    return Scope((*groups, *values), operation.rows(merged(groups).through(GROUP_BY)))


def _sort(operation: Operation) -> Scope:
    order = merged(operation.only.columns[at] for at in operation.node["order"])
    return replace(operation.only, rows=operation.rows(order.through(SORT)))


def _union(operation: Operation) -> Scope:
    """Columns by position."""
    columns = tuple(merged(column) for column in zip(*(scope.columns for scope in operation.below), strict=True))
    return _each_once(operation, Scope(columns, operation.rows()))


def _set_operation(operation: Operation) -> Scope:
    """INTERSECT and EXCEPT: a semi or anti join over all columns."""
    compared = merged(column for scope in operation.below for column in scope.columns).through(JOIN)
    return _each_once(operation, replace(operation.below[0], rows=operation.rows(compared)))


def _each_once(operation: Operation, scope: Scope) -> Scope:
    """One row of equals, unless it is ALL."""
    if operation.node["all"]:
        return scope
    return replace(scope, rows=merged([scope.rows, merged(scope.columns).through(GROUP_BY)]))


QUERY_RULES: Mapping[str, Rule] = {
    "LogicalAggregate": _aggregate,
    "LogicalCorrelate": _correlate,
    "LogicalFilter": _filter,
    "LogicalIntersect": _set_operation,
    "LogicalJoin": _join,
    "LogicalMinus": _set_operation,
    "LogicalProject": _project,
    "LogicalSnapshot": _snapshot,
    "LogicalSort": _sort,
    "LogicalTableScan": _scan,
    "LogicalUnion": _union,
    "LogicalValues": _values,
    "LogicalWatermarkAssigner": _unchanged,
}
