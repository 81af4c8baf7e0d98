"""Rules of the functions whose operands do not all simply go into the value."""

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
    """A function and the inputs of its operands; `texts` are the operands as written."""

    entry: Entry
    operands: list[Inputs]
    texts: list[Expression]
    subqueries: Mapping[Node, Scope]


def function_rule(kind: str) -> Callable[[Call], Inputs] | None:
    """The rule for an expression's class, or None where the value is made from all operands alike."""
    return _RULES.get(kind)


def _as_it_is(call: Call) -> Inputs:
    return call.operands[0]


def _masked(call: Call) -> Inputs:
    return merged(call.operands).through(MASKED)


def _cast(call: Call) -> Inputs:
    """Views cast each column to the type it was declared with, mostly the one it has."""
    (text,) = call.texts
    same = len(text) == 1 and text[0].get("dataType") == call.entry["dataType"] and "exprId" in text[0]
    return call.operands[0] if same else call.operands[0].through(TRANSFORMATION)


def _choice(conditions: list[Inputs], values: list[Inputs], texts: list[Expression]) -> Inputs:
    """A value of several by condition; where all are written alike, the condition does not matter."""
    if all(_is_written_alike(text, texts[0]) for text in texts):
        return values[0]
    return merged([merged(conditions).through(CONDITIONAL), merged(values).through(TRANSFORMATION)])


def _is_written_alike(one: Expression, other: Expression) -> bool:
    """Whether two expressions are the same; UPDATE names a column it leaves alone with the table's name and without."""
    return one == other or _unqualified(one) == _unqualified(other)


def _unqualified(text: Expression) -> Expression:
    return [{key: value for key, value in entry.items() if key != "qualifier"} for entry in text]


def _if(call: Call) -> Inputs:
    condition, *values = call.operands
    texts = call.texts[1:]
    constant = call.texts[0][0].get("value") if short_class(call.texts[0][0]["class"]) == "Literal" else None
    if constant == "true":
        return values[0]
    return _choice([condition], values, texts)


def _case(call: Call) -> Inputs:
    """CASE: condition and value in turns, then the value of ELSE; without ELSE it is null, so the conditions matter."""
    pairs = len(call.operands) // 2
    conditions = call.operands[0 : 2 * pairs : 2]
    values = [*call.operands[1 : 2 * pairs : 2], *call.operands[2 * pairs :]]
    texts = [*call.texts[1 : 2 * pairs : 2], *call.texts[2 * pairs :]]
    otherwise: list[Expression] = [] if len(call.operands) % 2 else [[]]
    return _choice(conditions, values, texts + otherwise)


def _coalesce(call: Call) -> Inputs:
    if len(call.operands) == 1:
        return call.operands[0]
    return _choice(call.operands, call.operands, call.texts)


def _window_expression(call: Call) -> Inputs:
    function, specification = call.operands
    return function.kept(IDENTITY, specification.through(WINDOW))


def _ranked_by(call: Call) -> Inputs:
    return merged(call.operands).through(WINDOW)


def _aggregate_expression(call: Call) -> Inputs:
    function, *condition = call.operands
    return function.kept(AGGREGATION, merged(condition).through(FILTER))


def _parsed(call: Call) -> Inputs:
    return payloads.parsed(call.operands)


def _struct(call: Call) -> Inputs:
    """Names and values in turns."""
    whole = merged(call.operands).through(TRANSFORMATION)
    return Inputs(dict(whole.items()), call.operands[1::2])


def _struct_field(call: Call) -> Inputs:
    return payloads.field_of(call.operands[0], call.entry, call.texts[0])


def _field_of_each(call: Call) -> Inputs:
    """A field of every struct in an array."""
    (structs,) = call.operands
    made = structs if structs.fields is None else structs.fields[call.entry["ordinal"]]
    return made.through(TRANSFORMATION)


def _array(call: Call) -> Inputs:
    return alternatives(call.operands).kept(TRANSFORMATION)


def _one_or_more(call: Call) -> Inputs:
    """Some of the values of the first operand as they are, or one of them."""
    values, *others = call.operands
    return values.kept(TRANSFORMATION, merged(others).through(TRANSFORMATION))


def _by_all_fields(use: Transformation) -> Callable[[Call], Inputs]:
    """Structs of which all fields together decide the order, or which one is taken: each field rests on the others."""

    def rule(call: Call) -> Inputs:
        kept = _one_or_more(call)
        if kept.fields is None:
            return kept
        made = kept.fields
        others = [merged([*made[:at], *made[at + 1 :]]).through(use) for at in range(len(made))]
        fields = [field.kept(IDENTITY, rest) for field, rest in zip(made, others, strict=True)]
        return Inputs(dict(kept.items()), fields)

    return rule


def _value_at_extreme(call: Call) -> Inputs:
    value, ordering = call.operands
    return value.kept(AGGREGATION, ordering.through(SORT))


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
        _as_it_is,
    ),
    # What openlineage-spark counts as masking, and the approximate distinct count and encryption besides.
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
        _one_or_more,
    ),
    **dict.fromkeys(
        ("AvroDataToCatalyst", "FromAvro", "FromProtobuf", "JsonToStructs", "ProtobufDataToCatalyst"), _parsed
    ),
    **dict.fromkeys(("Max", "Min", "SortArray"), _by_all_fields(SORT)),
    **dict.fromkeys(("ArrayDistinct", "CollectSet"), _by_all_fields(GROUP_BY)),
    "AggregateExpression": _aggregate_expression,
    "CaseWhen": _case,
    "Cast": _cast,
    "Coalesce": _coalesce,
    "CreateArray": _array,
    "CreateNamedStruct": _struct,
    "DenseRank": _ranked_by,
    "Exists": _exists,
    "GetArrayStructFields": _field_of_each,
    "GetStructField": _struct_field,
    "If": _if,
    "ListQuery": _list_query,
    "MaxBy": _value_at_extreme,
    "MinBy": _value_at_extreme,
    "PercentRank": _ranked_by,
    "PivotFirst": _pivot_first,
    "Rank": _ranked_by,
    "ScalarSubquery": _scalar_subquery,
    "SortOrder": _sort_order,
    "WindowExpression": _window_expression,
}
