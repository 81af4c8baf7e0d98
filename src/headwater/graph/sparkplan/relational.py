"""One rule for each operator of a query."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from headwater.graph.sparkplan import payloads
from headwater.graph.sparkplan.expressions import operands
from headwater.graph.sparkplan.inputs import (
    FILTER,
    GROUP_BY,
    JOIN,
    NOTHING,
    SORT,
    TRANSFORMATION,
    Inputs,
    Source,
    alternatives,
    merged,
)
from headwater.graph.sparkplan.leaves import Attribute, attributes
from headwater.graph.sparkplan.operation import Operation, scope_of
from headwater.graph.sparkplan.plan import Expression, short_class
from headwater.graph.sparkplan.scope import Scope
from headwater.graph.sparkplan.transformation import Transformation

Rule = Callable[[Operation], Scope]

_GROUPING_ID = "spark_grouping_id"


def leaf(operation: Operation) -> Scope:
    """A relation: each column is its own input."""
    index = operation.ledger.leaf_of[operation.node]
    output = attributes(operation.node.output())
    records = payloads.VALUE if payloads.is_topic(operation.node.entry) else None
    names = [payloads.BYTES if attribute.name == records else attribute.name for attribute in output]
    inputs = [Inputs.of(Source(index, name)) for name in names]
    return replace(scope_of(output, inputs), leaves=frozenset((index,)))


def _unchanged(operation: Operation) -> Scope:
    return operation.only


def _no_columns(_: Operation) -> Scope:
    return Scope()


def _project(operation: Operation) -> Scope:
    return operation.named(operation.node.expressions("projectList"))


def _filter(operation: Operation) -> Scope:
    return _decided_by(operation, [operation.node.expression("condition")], FILTER)


def _sort(operation: Operation) -> Scope:
    return _decided_by(operation, operation.node.expressions("order"), SORT)


def _deduplicate(operation: Operation) -> Scope:
    return _decided_by(operation, operation.node.expressions("keys"), GROUP_BY)


def _distinct(operation: Operation) -> Scope:
    return _one_row_each(operation.only)


def _aggregate(operation: Operation) -> Scope:
    grouped = _decided_by(operation, operation.node.expressions("groupingExpressions"), GROUP_BY)
    return replace(operation.named(operation.node.expressions("aggregateExpressions")), rows=grouped.rows)


def _window(operation: Operation) -> Scope:
    return _beside(operation.only, operation.named(operation.node.expressions("windowExpressions")))


def _generate(operation: Operation) -> Scope:
    """Each row joined with those that are made of it: none, where an array is empty, or many."""
    generator = operation.node.expression("generator")
    output = attributes(operation.node.expressions("generatorOutput"))
    made = operation.reader()(generator)
    generated = scope_of(output, _generated(operation, generator, made, len(output)))
    how_many = NOTHING if _makes_a_set_number(generator) else made.through(JOIN)
    return replace(_beside(operation.only, generated), rows=operation.rows(how_many))


def _generated(operation: Operation, generator: Expression, made: Inputs, width: int) -> list[Inputs]:
    """The inputs of each generated column; `stack` deals its operands out in rows, `inline` a struct in its fields."""
    kind = short_class(generator[0]["class"])
    if kind == "Stack":
        cells = operands(generator)[1:]
        return [operation.inputs(cells[column::width], TRANSFORMATION) for column in range(width)]
    values = made.kept(TRANSFORMATION)
    is_dealt = kind == "Inline" and values.fields is not None and len(values.fields) == width
    return list(values.fields) if is_dealt and values.fields else [values] * width


def _makes_a_set_number(generator: Expression) -> bool:
    """Whether the query itself says how many rows are made of each row."""
    kind, *below = (short_class(entry["class"]) for entry in generator[:2])
    return kind in ("JsonTuple", "Stack") or below == ["CreateArray"]


def _expand(operation: Operation) -> Scope:
    """Every row once for each projection: grouping sets, UNPIVOT, the halves of an update.

    Spark leaves the projections out where it keeps them as an array.
    """
    output = attributes(operation.node.expressions("output"))
    projections = operation.node.entry["projections"]
    if projections is None:
        return scope_of(output, _expanded_unseen(operation, output), operation.rows())
    read = operation.reader()
    rows = [[read(expression) for expression in row] for row in projections]
    return scope_of(output, [merged(column) for column in zip(*rows, strict=True)], operation.rows())


def _expanded_unseen(operation: Operation, output: Sequence[Attribute]) -> list[Inputs]:
    """The inputs of an Expand without its projections.

    Columns that pass unchanged are known by their ids. Of grouping sets the others are too: in their places stand the
    grouped columns below, under new ids, and behind them the number of the set, and its place where it is there twice.

    Source: `Expand.apply` and `ResolveGroupingAnalytics` of Spark 4.1
    """
    below = operation.only
    groups = _GROUPING_ID in [column.name for column in output[-2:]]
    gap = None if groups else operation.gap(operation.node.kind)
    inputs = []
    for place, column in enumerate(output):
        known = below.columns.get(column.expression_id)
        if known is None and groups:
            under = below.output[place] if place < len(below.output) else None
            known = below.columns[under.expression_id] if under and under.name == column.name else NOTHING
        inputs.append(known if known is not None else gap or NOTHING)
    return inputs


def _join(operation: Operation) -> Scope:
    left, right = operation.below
    conditions = [operation.node.optional(name) for name in ("condition", "asOfCondition", "orderExpression")]
    return _joined(operation, left, right, operation.inputs(conditions, JOIN))


def _lateral_join(operation: Operation) -> Scope:
    right = operation.subqueries[operation.node.expression("right")[0]["plan"]]
    beside = replace(operation, below=(operation.only, right))
    condition = beside.inputs([operation.node.optional("condition")], JOIN)
    return _joined(operation, operation.only, right, condition)


def _joined(operation: Operation, left: Scope, right: Scope, condition: Inputs) -> Scope:
    rows = merged([left.rows, right.rows, condition])
    join_type = str(operation.node.entry["joinType"])
    if "LeftSemi" in join_type or "LeftAnti" in join_type:
        return replace(left, rows=rows)
    return replace(_beside(left, right), rows=rows)


def _union(operation: Operation) -> Scope:
    """Columns by position, named and numbered after the first child's."""
    rounds = [scope.in_order() for scope in operation.below]
    inputs = [alternatives(column) for column in zip(*rounds, strict=True)]
    return scope_of(operation.below[0].output, inputs, operation.rows())


def _set_operation(operation: Operation) -> Scope:
    """INTERSECT and EXCEPT: a semi or anti join over all columns, and one row each unless it is ALL."""
    left, right = operation.below
    compared = merged([*left.in_order(), *right.in_order()]).through(JOIN)
    scope = replace(left, rows=operation.rows(compared))
    return scope if operation.node.entry.get("isAll") is True else _one_row_each(scope)


def _with_common_tables(operation: Operation) -> Scope:
    """The query itself comes last; it alone counts, with the definitions that it refers to."""
    return operation.below[-1]


def _define(operation: Operation) -> Scope:
    operation.ledger.common_tables[operation.node.entry["id"]] = operation.only
    return operation.only


def _refer(operation: Operation) -> Scope:
    defined = operation.ledger.common_tables[operation.node.entry["cteId"]]
    scope = scope_of(attributes(operation.node.expressions("output")), defined.in_order(), defined.rows)
    return replace(scope, leaves=defined.leaves, opaque=defined.opaque)


def _loop_reference(operation: Operation) -> Scope:
    origin = operation.ledger.loop(operation.node.entry["loopId"])
    output = attributes(operation.node.expressions("output"))
    return scope_of(output, [Inputs.of(Source(origin, str(at))) for at in range(len(output))])


def _loop(operation: Operation) -> Scope:
    """A recursive query: rounds are added until no column finds new inputs."""
    anchor, recursion = operation.below
    origin = operation.ledger.loop(operation.node.entry["id"])
    found = anchor.in_order()
    while True:
        earlier = {str(at): inputs for at, inputs in enumerate(found)}
        steps = [inputs.replaced(origin, earlier) for inputs in recursion.in_order()]
        grown = [merged(pair) for pair in zip(found, steps, strict=True)]
        if all(new.equals(old) for new, old in zip(grown, found, strict=True)):
            break
        found = grown
    rows = merged([anchor.rows, recursion.rows.replaced(origin, earlier)])
    return scope_of(_loop_output(operation, anchor), found, rows)


def _loop_output(operation: Operation, anchor: Scope) -> Sequence[Attribute]:
    ids = [item["id"] for item in operation.node.entry["outputAttrIds"]]
    return [Attribute(column.name, new) for column, new in zip(anchor.output, ids, strict=True)]


def _decided_by(operation: Operation, expressions: Sequence[Expression | None], use: Transformation) -> Scope:
    return replace(operation.only, rows=operation.rows(operation.inputs(expressions, use)))


def _one_row_each(scope: Scope) -> Scope:
    return replace(scope, rows=merged([scope.rows, merged(scope.in_order()).through(GROUP_BY)]))


def _beside(left: Scope, right: Scope) -> Scope:
    opaque = [scope.opaque for scope in (left, right) if scope.opaque is not None]
    return replace(
        left,
        output=left.output + right.output,
        columns={**left.columns, **right.columns},
        opaque=merged(opaque) if opaque else None,
    )


_UNCHANGED = (
    "CollectMetrics",
    "EventTimeWatermark",
    "GlobalLimit",
    "LocalLimit",
    "Offset",
    "PipeOperator",
    "RebalancePartitions",
    "Repartition",
    "RepartitionByExpression",
    "ResolvedHint",
    "SQLFunctionNode",
    "Sample",
    "Subquery",
    "SubqueryAlias",
    "Tail",
    "UpdateEventTimeWatermarkColumn",
    "View",
)

QUERY_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_UNCHANGED, _unchanged),
    "Aggregate": _aggregate,
    "AsOfJoin": _join,
    "CTERelationDef": _define,
    "CTERelationRef": _refer,
    "Deduplicate": _deduplicate,
    "DeduplicateWithinWatermark": _deduplicate,
    "Distinct": _distinct,
    "Except": _set_operation,
    "Expand": _expand,
    "Filter": _filter,
    "Generate": _generate,
    "Intersect": _set_operation,
    "Join": _join,
    "LateralJoin": _lateral_join,
    "OneRowRelation": _no_columns,
    "Project": _project,
    "Sort": _sort,
    "Union": _union,
    "UnionLoop": _loop,
    "UnionLoopRef": _loop_reference,
    "Window": _window,
    "WithCTE": _with_common_tables,
}
