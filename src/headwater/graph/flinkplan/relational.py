"""A rule per relational operator."""

from collections.abc import Mapping
from dataclasses import replace

from headwater.graph.flinkplan.functions import aggregate_inputs
from headwater.graph.flinkplan.operator import Operator, Rule, concatenated
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.sparkplan.inputs import FILTER, GROUP_BY, JOIN, NOTHING, SORT, Inputs, Source, merged


def _scan(operator: Operator) -> Scope:
    origin = operator.state.origin_of(tuple(operator.node["table"]))
    return Scope(tuple(Inputs.of(Source(origin, name)) for name in operator.node["columns"]))


def _values(operator: Operator) -> Scope:
    return Scope((NOTHING,) * len(operator.node["columns"]))


def _unchanged(operator: Operator) -> Scope:
    return operator.only_child


def _project(operator: Operator) -> Scope:
    columns = tuple(operator.inputs(one) for one in operator.node["expressions"])
    return Scope(columns, operator.rows())


def _filter(operator: Operator) -> Scope:
    condition = operator.inputs(operator.node["condition"]).through(FILTER)
    return replace(operator.only_child, rows=operator.rows(condition))


def _join(operator: Operator) -> Scope:
    condition = operator.inputs(operator.node["condition"]).through(JOIN)
    return _joined(operator, operator.rows(condition))


def _correlate(operator: Operator) -> Scope:
    """A lateral join, of each row on the left with a query on the right: the inputs of the query's rows join them."""
    left, right = operator.below
    return _joined(operator, merged([left.rows, right.rows.through(JOIN)]))


def _joined(operator: Operator, rows: Inputs) -> Scope:
    output = operator.below[:1] if operator.node["join"] in ("SEMI", "ANTI") else operator.below
    return replace(concatenated(output), rows=rows)


def _snapshot(operator: Operator) -> Scope:
    """A table as of a time, which decides the version of each row; with event time, by the rowtime column."""
    period = operator.inputs(operator.node["period"])
    is_now = period.equals(NOTHING)
    version_time = NOTHING if is_now else merged(operator.only_child.columns[at] for at in operator.node["rowtime"])
    return replace(operator.only_child, rows=operator.rows(merged([period, version_time]).through(JOIN)))


def _aggregate(operator: Operator) -> Scope:
    columns = operator.only_child.columns
    groups = [columns[at] for at in operator.node["group"]]
    values = [
        aggregate_inputs(
            call["op"],
            [columns[at] for at in call["args"]],
            columns[call["filter"]] if "filter" in call else NOTHING,
        )
        for call in operator.node["calls"]
    ]
    return Scope((*groups, *values), operator.rows(merged(groups).through(GROUP_BY)))


def _sort(operator: Operator) -> Scope:
    order = merged(operator.only_child.columns[at] for at in operator.node["order"])
    return replace(operator.only_child, rows=operator.rows(order.through(SORT)))


def _union(operator: Operator) -> Scope:
    """Columns are matched by position."""
    columns = tuple(merged(column) for column in zip(*(scope.columns for scope in operator.below), strict=True))
    return _distinct(operator, Scope(columns, operator.rows()))


def _set_operation(operator: Operator) -> Scope:
    """INTERSECT and EXCEPT: a semi or anti join over all columns."""
    compared = merged(column for scope in operator.below for column in scope.columns).through(JOIN)
    return _distinct(operator, replace(operator.below[0], rows=operator.rows(compared)))


def _distinct(operator: Operator, scope: Scope) -> Scope:
    """Duplicate rows are removed, unless it is ALL."""
    if operator.node["all"]:
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
