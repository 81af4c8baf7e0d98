"""How an expression uses its columns and subqueries, and the clauses that decide which rows a query has."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import walk_in_scope

Kind = Literal["DIRECT", "INDIRECT"]
Subtype = Literal[  # the first three are direct
    "IDENTITY", "TRANSFORMATION", "AGGREGATION", "JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"
]

_MASKING: Final = (
    *(exp.Count, exp.CountIf, exp.ApproxDistinct, exp.MD5, exp.MD5Digest),
    *(exp.SHA, exp.SHA1Digest, exp.SHA2, exp.SHA2Digest),
)
"""The same as openlineage-spark's masking functions: the value cannot be recovered."""
_WITHOUT_DATA: Final = (exp.Grouping, exp.GroupingId, exp.Star)
"""The first two identify a row's grouping set, independent of its data; a star counts rows, unless `is_row`."""
_OFFSET_FUNCTIONS: Final = (exp.Lag, exp.Lead)
"""Aggregates to sqlglot, but their value comes from a single row."""
_WITHIN_GROUP: Final = (exp.PercentileCont, exp.PercentileDisc, exp.Mode)
"""Aggregates with their operand in WITHIN GROUP (ORDER BY …)."""
_AGGREGATES_UNKNOWN_TO_SQLGLOT: Final = frozenset(
    [
        *("approx_most_frequent", "bitwise_and_agg", "bitwise_or_agg", "bitwise_xor_agg", "checksum"),
        *("geometric_mean", "histogram", "map_agg", "map_union", "merge", "multimap_agg", "numeric_histogram"),
        *("qdigest_agg", "tdigest_agg"),
    ]
)
"""Of Trino's. Source: https://trino.io/docs/476/functions/aggregate.html"""


_FILTERS: Final = ("connect", "prewhere", "where", "having", "qualify", "limit", "offset")
"""The clauses that drop rows, by sqlglot's names; LIMIT because of `LIMIT 2 BY supplier`."""


class Transformation(NamedTuple):
    """How an input is used, in OpenLineage's terms."""

    kind: Kind
    subtype: Subtype
    masking: bool = False


def column_uses(
    expression: exp.Expr, how: Transformation, windows: dict[str, exp.Expr]
) -> Iterator[tuple[exp.Expr, Transformation]]:
    """The columns and subqueries in an expression, each with its transformation; not recursive.

    Nodes for several columns are included: a table's name for its row, a star for all rows, a pattern of names.
    A named window is read once, for the first function over it.
    """
    waiting: list[tuple[exp.Expr, Transformation]] = [(expression, how)]
    while waiting:
        at, way = waiting.pop()
        if isinstance(at, exp.Column | exp.TableColumn | exp.Columns | exp.Query) or is_row(at):
            yield at, way
            continue
        if isinstance(at, _WITHOUT_DATA):
            continue
        if isinstance(at, exp.Window) and (named := windows.pop(at.alias, None)) is not None:
            waiting.append((named, way))
        for name, children in at.args.items():
            inner = _use_of_child(at, name, way)
            waiting.extend((each, inner) for each in _expressions(children))


def is_row(star: exp.Expr) -> bool:
    """Whether it is a star for values, as in `struct(*)`; the star of `count(*)` is not."""
    return isinstance(star, exp.Star) and not isinstance(star.parent, exp.Count | exp.Select)


def row_conditions(query: exp.Expr) -> Iterator[tuple[Subtype, list[exp.Expr]]]:
    """The expressions that decide which rows a query has, by subtype; without the columns of DISTINCT."""
    for join in _joins(query):
        compared = (join.args.get("on"), join.args.get("match_condition"), *(join.args.get("using") or ()))
        yield "JOIN", [each for each in compared if each is not None]
        if join.text("kind") == "ARRAY":  # ClickHouse: joins each row with the elements of its own columns
            yield "JOIN", [each.unalias() for each in (join.this, *join.expressions)]
    yield "JOIN", [each for item in query.expressions for each in walk_in_scope(item) if isinstance(each, exp.UDTF)]
    named: tuple[tuple[str, Subtype], ...] = (
        *((each, "FILTER") for each in _FILTERS),
        ("group", "GROUP_BY"),
        *((each, "SORT") for each in ("order", "sort", "cluster", "distribute")),
        ("distinct", "GROUP_BY"),
    )
    for argument, subtype in named:
        if (clause := query.args.get(argument)) is not None:
            yield subtype, [clause]
    if (group := query.args.get("group")) is not None and group.args.get("all"):
        yield "GROUP_BY", [item for item in query.expressions if not any(map(_aggregates, walk_in_scope(item)))]
    if has_all(query.args.get("order")):
        yield "SORT", [item.unalias() for item in query.expressions]


def has_all(order: exp.Expr | None) -> bool:
    """Whether it is ORDER BY ALL."""
    items = () if order is None else (item.this for item in order.expressions)
    return any(isinstance(item, exp.Var) and item.name.upper() == "ALL" for item in items)


def _joins(query: exp.Expr) -> Iterator[exp.Expr]:
    """The joins of a query, including nested ones: `a JOIN (b JOIN c ON …) ON …`."""
    begin = query.args.get("from_")
    waiting = [query] if begin is None else [query, begin.this]
    while waiting:
        at = waiting.pop()
        for join in at.args.get("joins") or ():
            yield join
            waiting.append(join.this)
        if isinstance(at, exp.Subquery) and isinstance(at.this, exp.Table | exp.Subquery):
            waiting.append(at.this)


def _use_of_child(parent: exp.Expr, argument: str, way: Transformation) -> Transformation:
    if way.kind == "INDIRECT":
        return way
    if isinstance(parent, exp.If | exp.Case) and argument == "this":
        return Transformation("INDIRECT", "CONDITIONAL")
    if isinstance(parent, exp.Window) and argument in ("partition_by", "order"):
        return Transformation("INDIRECT", "WINDOW")
    if isinstance(parent, exp.Filter) and argument == "expression":
        return Transformation("INDIRECT", "CONDITIONAL")
    if isinstance(parent, exp.ArgMax | exp.ArgMin) and argument == "expression":
        return Transformation("INDIRECT", "SORT")
    if isinstance(parent, exp.Order) and argument == "expressions":
        is_value = isinstance(parent.parent, exp.WithinGroup) and isinstance(parent.parent.this, _WITHIN_GROUP)
        return Transformation("DIRECT", "AGGREGATION") if is_value else Transformation("INDIRECT", "SORT")
    is_masking = way.masking or isinstance(parent, _MASKING)
    return Transformation("DIRECT", "AGGREGATION" if _aggregates(parent) else way.subtype, is_masking)


def _aggregates(function: exp.Expr) -> bool:
    if isinstance(function, exp.Anonymous):
        return function.name.lower() in _AGGREGATES_UNKNOWN_TO_SQLGLOT
    return isinstance(function, exp.AggFunc) and not isinstance(function, _OFFSET_FUNCTIONS)


def _expressions(children: object) -> Iterator[exp.Expr]:
    for child in children if isinstance(children, list) else (children,):
        if isinstance(child, exp.Expr):
            yield child
