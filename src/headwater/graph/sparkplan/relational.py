"""A rule per relational operator."""

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
from headwater.graph.sparkplan.operator import Operator, scope_of
from headwater.graph.sparkplan.plan import Expression, short_class
from headwater.graph.sparkplan.scope import Scope
from headwater.graph.sparkplan.transformation import Transformation

Rule = Callable[[Operator], Scope]

_GROUPING_ID = "spark_grouping_id"


def leaf(operator: Operator) -> Scope:
    """A relation: each column is its own input."""
    index = operator.state.leaf_of[operator.node]
    output = attributes(operator.node.output())
    records = payloads.VALUE if payloads.is_topic(operator.node.entry) else None
    names = [payloads.BYTES if attribute.name == records else attribute.name for attribute in output]
    inputs = [Inputs.of(Source(index, name)) for name in names]
    return replace(scope_of(output, inputs), leaves=frozenset((index,)))


def _unchanged(operator: Operator) -> Scope:
    return operator.only_child


def _one_row(_: Operator) -> Scope:
    return Scope()


def _project(operator: Operator) -> Scope:
    return operator.projected(operator.node.expressions("projectList"))


def _filter(operator: Operator) -> Scope:
    return _with_row_inputs(operator, [operator.node.expression("condition")], FILTER)


def _sort(operator: Operator) -> Scope:
    return _with_row_inputs(operator, operator.node.expressions("order"), SORT)


def _deduplicate(operator: Operator) -> Scope:
    return _with_row_inputs(operator, operator.node.expressions("keys"), GROUP_BY)


def _distinct(operator: Operator) -> Scope:
    return _distinct_rows(operator.only_child)


def _aggregate(operator: Operator) -> Scope:
    grouped = _with_row_inputs(operator, operator.node.expressions("groupingExpressions"), GROUP_BY)
    return replace(operator.projected(operator.node.expressions("aggregateExpressions")), rows=grouped.rows)


def _window(operator: Operator) -> Scope:
    return _concatenated(operator.only_child, operator.projected(operator.node.expressions("windowExpressions")))


def _generate(operator: Operator) -> Scope:
    """A lateral view: each row joined with those generated from it; none for an empty array, or many."""
    generator = operator.node.expression("generator")
    output = attributes(operator.node.expressions("generatorOutput"))
    inputs = operator.reader()(generator)
    generated = scope_of(output, _generated(operator, generator, inputs, len(output)))
    row_count = NOTHING if _has_fixed_row_count(generator) else inputs.through(JOIN)
    return replace(_concatenated(operator.only_child, generated), rows=operator.rows(row_count))


def _generated(operator: Operator, generator: Expression, inputs: Inputs, width: int) -> list[Inputs]:
    """The inputs of each generated column: every nth operand of `stack`, a field of the structs of `inline`."""
    kind = short_class(generator[0]["class"])
    if kind == "Stack":
        cells = operands(generator)[1:]
        return [operator.inputs(cells[column::width], TRANSFORMATION) for column in range(width)]
    values = inputs.keeping_fields(TRANSFORMATION)
    has_fields = kind == "Inline" and values.fields is not None and len(values.fields) == width
    return list(values.fields) if has_fields and values.fields else [values] * width


def _has_fixed_row_count(generator: Expression) -> bool:
    """Whether the number of rows per input row is independent of the data."""
    kind, *below = (short_class(entry["class"]) for entry in generator[:2])
    return kind in ("JsonTuple", "Stack") or below == ["CreateArray"]


def _expand(operator: Operator) -> Scope:
    """A copy of every row for each projection: grouping sets, UNPIVOT, updates split in delete and insert.

    Spark does not write the projections if it stores them as an array.
    """
    output = attributes(operator.node.expressions("output"))
    projections = operator.node.entry["projections"]
    if projections is None:
        return scope_of(output, _expand_without_projections(operator, output), operator.rows())
    read = operator.reader()
    rows = [[read(expression) for expression in row] for row in projections]
    return scope_of(output, [merged(column) for column in zip(*rows, strict=True)], operator.rows())


def _expand_without_projections(operator: Operator, output: Sequence[Attribute]) -> list[Inputs]:
    """The inputs of an Expand without its projections.

    Unchanged columns are known by their ids. For grouping sets the others are known, too: they are the grouping columns
    of the child at the same positions, with new ids, then the set's id, and its position if the set occurs twice.

    Source: `Expand.apply` and `ResolveGroupingAnalytics` of Spark 4.1
    """
    below = operator.only_child
    is_grouping = _GROUPING_ID in [column.name for column in output[-2:]]
    gap = None if is_grouping else operator.gap(operator.node.kind)
    inputs = []
    for at, column in enumerate(output):
        known = below.columns.get(column.expression_id)
        if known is None and is_grouping:
            grouped = below.output[at] if at < len(below.output) else None
            known = below.columns[grouped.expression_id] if grouped and grouped.name == column.name else NOTHING
        inputs.append(known if known is not None else gap or NOTHING)
    return inputs


def _join(operator: Operator) -> Scope:
    left, right = operator.below
    conditions = [operator.node.optional(name) for name in ("condition", "asOfCondition", "orderExpression")]
    return _joined(operator, left, right, operator.inputs(conditions, JOIN))


def _lateral_join(operator: Operator) -> Scope:
    right = operator.subqueries[operator.node.expression("right")[0]["plan"]]
    joined = replace(operator, below=(operator.only_child, right))
    condition = joined.inputs([operator.node.optional("condition")], JOIN)
    return _joined(operator, operator.only_child, right, condition)


def _joined(operator: Operator, left: Scope, right: Scope, condition: Inputs) -> Scope:
    rows = merged([left.rows, right.rows, condition])
    join_type = str(operator.node.entry["joinType"])
    if "LeftSemi" in join_type or "LeftAnti" in join_type:
        return replace(left, rows=rows)
    return replace(_concatenated(left, right), rows=rows)


def _union(operator: Operator) -> Scope:
    """Columns are matched by position, with the names and ids of the first child's."""
    branches = [scope.in_order() for scope in operator.below]
    inputs = [alternatives(column) for column in zip(*branches, strict=True)]
    return scope_of(operator.below[0].output, inputs, operator.rows())


def _set_operation(operator: Operator) -> Scope:
    """INTERSECT and EXCEPT: a semi or anti join over all columns, without duplicates unless it is ALL."""
    left, right = operator.below
    compared = merged([*left.in_order(), *right.in_order()]).through(JOIN)
    scope = replace(left, rows=operator.rows(compared))
    return scope if operator.node.entry.get("isAll") is True else _distinct_rows(scope)


def _with_common_tables(operator: Operator) -> Scope:
    """The main query is the last child; the others are definitions, which count if they are referenced."""
    return operator.below[-1]


def _cte_definition(operator: Operator) -> Scope:
    operator.state.common_tables[operator.node.entry["id"]] = operator.only_child
    return operator.only_child


def _cte_reference(operator: Operator) -> Scope:
    defined = operator.state.common_tables[operator.node.entry["cteId"]]
    scope = scope_of(attributes(operator.node.expressions("output")), defined.in_order(), defined.rows)
    return replace(scope, leaves=defined.leaves, opaque=defined.opaque)


def _recursive_reference(operator: Operator) -> Scope:
    origin = operator.state.loop(operator.node.entry["loopId"])
    output = attributes(operator.node.expressions("output"))
    return scope_of(output, [Inputs.of(Source(origin, str(at))) for at in range(len(output))])


def _recursion(operator: Operator) -> Scope:
    """A recursive query: iterated until no column gets new inputs."""
    anchor, recursion = operator.below
    origin = operator.state.loop(operator.node.entry["id"])
    found = anchor.in_order()
    while True:
        earlier = {str(at): inputs for at, inputs in enumerate(found)}
        steps = [inputs.replaced(origin, earlier) for inputs in recursion.in_order()]
        grown = [merged(pair) for pair in zip(found, steps, strict=True)]
        if all(new.equals(old) for new, old in zip(grown, found, strict=True)):
            break
        found = grown
    rows = merged([anchor.rows, recursion.rows.replaced(origin, earlier)])
    return scope_of(_recursion_output(operator, anchor), found, rows)


def _recursion_output(operator: Operator, anchor: Scope) -> Sequence[Attribute]:
    ids = [item["id"] for item in operator.node.entry["outputAttrIds"]]
    return [Attribute(column.name, new) for column, new in zip(anchor.output, ids, strict=True)]


def _with_row_inputs(operator: Operator, expressions: Sequence[Expression | None], use: Transformation) -> Scope:
    return replace(operator.only_child, rows=operator.rows(operator.inputs(expressions, use)))


def _distinct_rows(scope: Scope) -> Scope:
    return replace(scope, rows=merged([scope.rows, merged(scope.in_order()).through(GROUP_BY)]))


def _concatenated(left: Scope, right: Scope) -> Scope:
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
    "CTERelationDef": _cte_definition,
    "CTERelationRef": _cte_reference,
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
    "OneRowRelation": _one_row,
    "Project": _project,
    "Sort": _sort,
    "Union": _union,
    "UnionLoop": _recursion,
    "UnionLoopRef": _recursive_reference,
    "Window": _window,
    "WithCTE": _with_common_tables,
}
