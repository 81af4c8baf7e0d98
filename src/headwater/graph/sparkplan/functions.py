"""Rules for functions that do not simply transform all their operands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headwater.graph.sparkplan import payloads
from headwater.graph.sparkplan.inputs import (
    AGGREGATION,
    CONDITIONAL,
    FILTER,
    GROUP_BY,
    IDENTITY,
    MASKED,
    SORT,
    TRANSFORMATION,
    WINDOW,
    Inputs,
    alternatives,
    merged,
)
from headwater.graph.sparkplan.plan import Entry, Expression, Node, short_class
from headwater.graph.sparkplan.scope import Scope
from headwater.graph.sparkplan.transformation import Transformation


@dataclass(frozen=True, slots=True)
class Call:
    """A function call: the inputs of its operands, and the operands' expressions."""

    entry: Entry
    operands: list[Inputs]
    expressions: list[Expression]
    subqueries: Mapping[Node, Scope]


def function_rule(kind: str) -> Callable[[Call], Inputs] | None:
    """The rule for an expression's class, or None if it transforms all operands alike."""
    return _RULES.get(kind)


def _identity(call: Call) -> Inputs:
    return call.operands[0]


def _masked(call: Call) -> Inputs:
    return merged(call.operands).through(MASKED)


def _cast(call: Call) -> Inputs:
    """A cast of a column to its own type, as views have for each column, is an identity."""
    (operand,) = call.expressions
    is_same_type = operand[0].get("dataType") == call.entry["dataType"]
    is_identity = len(operand) == 1 and is_same_type and "exprId" in operand[0]
    return call.operands[0] if is_identity else call.operands[0].through(TRANSFORMATION)


def _choice(conditions: list[Inputs], values: list[Inputs], expressions: list[Expression]) -> Inputs:
    """One of several values, by condition; if all are the same expression, the condition has no influence."""
    if all(_is_same_expression(each, expressions[0]) for each in expressions):
        return values[0]
    return merged([merged(conditions).through(CONDITIONAL), merged(values).through(TRANSFORMATION)])


def _is_same_expression(one: Expression, other: Expression) -> bool:
    """Whether two expressions are equal but for qualifiers: UPDATE qualifies an unchanged column in one place only."""
    return one == other or _unqualified(one) == _unqualified(other)


def _unqualified(expression: Expression) -> Expression:
    return [{key: value for key, value in entry.items() if key != "qualifier"} for entry in expression]


def _if(call: Call) -> Inputs:
    condition, *values = call.operands
    (test, *_), *branches = call.expressions
    if short_class(test["class"]) == "Literal" and test.get("value") == "true":
        return values[0]
    return _choice([condition], values, branches)


def _case(call: Call) -> Inputs:
    """CASE: conditions and values alternate, then the value of ELSE; without ELSE, null is one of the values."""
    pairs = len(call.operands) // 2
    conditions = call.operands[0 : 2 * pairs : 2]
    values = [*call.operands[1 : 2 * pairs : 2], *call.operands[2 * pairs :]]
    expressions = [*call.expressions[1 : 2 * pairs : 2], *call.expressions[2 * pairs :]]
    otherwise: list[Expression] = [] if len(call.operands) % 2 else [[]]
    return _choice(conditions, values, expressions + otherwise)


def _coalesce(call: Call) -> Inputs:
    if len(call.operands) == 1:
        return call.operands[0]
    return _choice(call.operands, call.operands, call.expressions)


def _window_expression(call: Call) -> Inputs:
    function, specification = call.operands
    return function.keeping_fields(IDENTITY, specification.through(WINDOW))


def _rank(call: Call) -> Inputs:
    return merged(call.operands).through(WINDOW)


def _aggregate_expression(call: Call) -> Inputs:
    function, *condition = call.operands
    return function.keeping_fields(AGGREGATION, merged(condition).through(FILTER))


def _parsed(call: Call) -> Inputs:
    return payloads.parsed(call.operands)


def _struct(call: Call) -> Inputs:
    """Names and values alternate."""
    merged_operands = merged(call.operands).through(TRANSFORMATION)
    return Inputs(dict(merged_operands.items()), call.operands[1::2])


def _struct_field(call: Call) -> Inputs:
    return payloads.field_of(call.operands[0], call.entry, call.expressions[0])


def _field_of_each(call: Call) -> Inputs:
    """A field of every struct in an array."""
    (structs,) = call.operands
    field = structs if structs.fields is None else structs.fields[call.entry["ordinal"]]
    return field.through(TRANSFORMATION)


def _array(call: Call) -> Inputs:
    return alternatives(call.operands).keeping_fields(TRANSFORMATION)


def _selection(call: Call) -> Inputs:
    """One or several values of the first operand, unchanged."""
    values, *others = call.operands
    return values.keeping_fields(TRANSFORMATION, merged(others).through(TRANSFORMATION))


def _selection_by_fields(use: Transformation) -> Callable[[Call], Inputs]:
    """A selection of structs by comparing all their fields: each field also depends on the others."""

    def rule(call: Call) -> Inputs:
        selected = _selection(call)
        if selected.fields is None:
            return selected
        own = selected.fields
        others = [merged([*own[:at], *own[at + 1 :]]).through(use) for at in range(len(own))]
        fields = [field.keeping_fields(IDENTITY, rest) for field, rest in zip(own, others, strict=True)]
        return Inputs(dict(selected.items()), fields)

    return rule


def _min_max_by(call: Call) -> Inputs:
    value, ordering = call.operands
    return value.keeping_fields(AGGREGATION, ordering.through(SORT))


def _pivot_first(call: Call) -> Inputs:
    pivot, value = call.operands
    return merged([pivot.through(CONDITIONAL), value])


def _sort_order(call: Call) -> Inputs:
    return merged(call.operands).through(SORT)


def _scalar_subquery(call: Call) -> Inputs:
    subquery = call.subqueries[call.entry["plan"]]
    return merged([*subquery.in_order()[:1], subquery.rows])


def _exists(call: Call) -> Inputs:
    return call.subqueries[call.entry["plan"]].rows


def _list_query(call: Call) -> Inputs:
    subquery = call.subqueries[call.entry["plan"]]
    return merged([*subquery.in_order(), subquery.rows])


_RULES: Mapping[str, Callable[[Call], Inputs]] = {
    **dict.fromkeys(
        (
            "Alias",
            "AssertNotNull",
            "CommonExpressionDef",
            "KnownFloatingPointNormalized",
            "KnownNotNull",
            "KnownNullable",
            "LambdaFunction",
            "OuterReference",
            "With",
        ),
        _identity,
    ),
    # Those of openlineage-spark, and approximate distinct counts and encryption.
    **dict.fromkeys(
        (
            "AesEncrypt",
            "Count",
            "CountIf",
            "Crc32",
            "HiveHash",
            "HyperLogLogPlusPlus",
            "Mask",
            "Md5",
            "Murmur3Hash",
            "Sha1",
            "Sha2",
            "XxHash64",
        ),
        _masked,
    ),
    **dict.fromkeys(
        (
            "AnyValue",
            "CollectList",
            "ElementAt",
            "Explode",
            "First",
            "Flatten",
            "GetArrayItem",
            "Inline",
            "Lag",
            "Last",
            "Lead",
            "NthValue",
            "PosExplode",
            "Reverse",
            "Slice",
        ),
        _selection,
    ),
    **dict.fromkeys(
        ("AvroDataToCatalyst", "FromAvro", "FromProtobuf", "JsonToStructs", "ProtobufDataToCatalyst"), _parsed
    ),
    **dict.fromkeys(("Max", "Min", "SortArray"), _selection_by_fields(SORT)),
    **dict.fromkeys(("ArrayDistinct", "CollectSet"), _selection_by_fields(GROUP_BY)),
    "AggregateExpression": _aggregate_expression,
    "CaseWhen": _case,
    "Cast": _cast,
    "Coalesce": _coalesce,
    "CreateArray": _array,
    "CreateNamedStruct": _struct,
    "DenseRank": _rank,
    "Exists": _exists,
    "GetArrayStructFields": _field_of_each,
    "GetStructField": _struct_field,
    "If": _if,
    "ListQuery": _list_query,
    "MaxBy": _min_max_by,
    "MinBy": _min_max_by,
    "PercentRank": _rank,
    "PivotFirst": _pivot_first,
    "Rank": _rank,
    "ScalarSubquery": _scalar_subquery,
    "SortOrder": _sort_order,
    "WindowExpression": _window_expression,
}
