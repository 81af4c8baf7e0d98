"""The planner's tree of a query as JSON: operators with their expressions, by position, without the values of literals.

An operator is an object with `kind` (Calcite's class), `columns` (names), `inputs`, and what its kind needs. An
expression has `kind`: `input` (a position in the concatenated columns of the inputs), `literal`, `outer`
(a row of a query around this one, by `id`), `field` (of another expression), `call`, or `unknown`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .java import Java, field, items, kind_of
from .tables import naming, resolved

Json = dict[str, Any]

_CALLS = frozenset({"RexCall", "RexOver", "RexSubQuery", "RexTableArgCall"})
_SAME_TYPE = {" *ROWTIME*": "", " *PROCTIME*": "", "TIMESTAMP_WITH_LOCAL_TIME_ZONE": "TIMESTAMP_LTZ"}
"""Normalises type names: drops the mark of a time attribute, and unites two names of one type."""


def tree(rel: Java) -> Json:
    """An operator with all operators below it."""
    kind = kind_of(rel)
    node: Json = {"kind": kind, "columns": [str(name) for name in items(rel.getRowType().getFieldNames())]}
    inputs = [tree(one) for one in items(rel.getInputs())]
    if inputs:
        node["inputs"] = inputs
    variables = [str(one.getName()) for one in items(rel.getVariablesSet())]
    if variables:
        node["variables"] = variables
    if kind in _DETAILS:
        node.update(_DETAILS[kind](rel))
    return node


def expression(rex: Java) -> Json:
    """An expression with all nested expressions."""
    kind = kind_of(rex)
    if kind in ("RexInputRef", "RexPatternFieldRef"):
        return {"kind": "input", "index": rex.getIndex()}
    if kind == "RexLiteral":
        return {"kind": "literal"}
    if kind == "RexCorrelVariable":
        return {"kind": "outer", "id": str(rex.getName())}
    if kind == "RexFieldAccess":
        return {"kind": "field", "index": rex.getField().getIndex(), "of": expression(rex.getReferenceExpr())}
    return _call(kind, rex) if kind in _CALLS else {"kind": "unknown", "class": kind}


def _call(kind: str, rex: Java) -> Json:
    name = str(rex.getOperator().getName())
    node: Json = {"kind": "call", "op": name, "args": [expression(one) for one in items(rex.getOperands())]}
    if name == "DESCRIPTOR":
        node = {"kind": "call", "op": name, "names": [str(one.getValue2()) for one in items(rex.getOperands())]}
    if name in ("CAST", "TRY_CAST"):
        node["unchanged"] = _type(rex) == _type(rex.getOperands().get(0))
    if kind == "RexOver":
        window = rex.getWindow()
        node["partition"] = [expression(one) for one in items(field(window, "partitionKeys"))]
        node["order"] = [expression(one.getKey()) for one in items(field(window, "orderKeys"))]
    elif kind == "RexSubQuery":
        node["query"] = tree(field(rex, "rel"))
    elif kind == "RexTableArgCall":
        node["partition_by"] = list(rex.getPartitionKeys())
    return node


def _type(rex: Java) -> str:
    """The SQL type, without nullability."""
    text = str(rex.getType().toString())
    for written, meant in _SAME_TYPE.items():
        text = text.replace(written, meant)
    return text


def _scan(rel: Java) -> Json:
    """The table's name, followed by options of a hint that change which data it is: `topic=other`.

    A table in no catalog is described here, since it cannot be looked up.
    """
    table = rel.getTable()
    name = [str(part) for part in items(table.getQualifiedName())]
    if kind_of(table) == "TableSourceTable" and table.contextResolvedTable().isAnonymous():
        return {"table": name[:1], "source": resolved(table.contextResolvedTable().getResolvedTable())}
    hinted = {}
    for hint in items(rel.getHints()):
        if str(field(hint, "hintName")) == "OPTIONS":
            hinted.update(naming(field(hint, "kvOptions")))
    changes = [f"{key}={value}" for key, value in sorted(hinted.items())]
    return {"table": [*name[:3], *changes]}  # more elements, such as the metadata read, may follow the name


def _project(rel: Java) -> Json:
    return {"expressions": [expression(one) for one in items(rel.getProjects())]}


def _filter(rel: Java) -> Json:
    return {"condition": expression(rel.getCondition())}


def _join(rel: Java) -> Json:
    return {"condition": expression(rel.getCondition()), "join": str(rel.getJoinType().toString())}


def _correlate(rel: Java) -> Json:
    return {"variables": [str(rel.getCorrelVariable())], "join": str(rel.getJoinType().toString())}


def _aggregate(rel: Java) -> Json:
    return {
        "group": list(items(rel.getGroupSet().asList())),
        "calls": [_aggregate_call(one) for one in items(rel.getAggCallList())],
    }


def _aggregate_call(call: Java) -> Json:
    node: Json = {"op": str(call.getAggregation().getName()), "args": list(items(call.getArgList()))}
    condition = field(call, "filterArg")
    if condition >= 0:
        node["filter"] = condition
    return node


def _sort(rel: Java) -> Json:
    return {"order": [one.getFieldIndex() for one in items(rel.getCollation().getFieldCollations())]}


def _snapshot(rel: Java) -> Json:
    types = [str(one.getType().toString()) for one in items(rel.getInput().getRowType().getFieldList())]
    rowtime = [at for at, text in enumerate(types) if "*ROWTIME*" in text]
    return {"period": expression(rel.getPeriod()), "rowtime": rowtime}


def _function(rel: Java) -> Json:
    return {"call": expression(rel.getCall())}


def _set_operation(rel: Java) -> Json:
    return {"all": bool(field(rel, "all"))}


def _uncollect(rel: Java) -> Json:
    return {"ordinality": bool(field(rel, "withOrdinality"))}


def _match(rel: Java) -> Json:
    measures, definitions = rel.getMeasures(), rel.getPatternDefinitions()
    return {
        "partition": list(items(rel.getPartitionKeys().asList())),
        "order": [one.getFieldIndex() for one in items(rel.getOrderKeys().getFieldCollations())],
        "measures": {str(name): expression(measures[name]) for name in measures},
        "definitions": [expression(definitions[name]) for name in definitions],
        "all_rows": bool(rel.isAllRows()),
    }


_DETAILS: dict[str, Callable[[Java], Json]] = {
    "LogicalTableScan": _scan,
    "LogicalMinus": _set_operation,
    "LogicalProject": _project,
    "LogicalFilter": _filter,
    "LogicalIntersect": _set_operation,
    "LogicalJoin": _join,
    "LogicalCorrelate": _correlate,
    "LogicalAggregate": _aggregate,
    "LogicalSort": _sort,
    "LogicalSnapshot": _snapshot,
    "LogicalTableFunctionScan": _function,
    "LogicalUnion": _set_operation,
    "Uncollect": _uncollect,
    "LogicalMatch": _match,
}
