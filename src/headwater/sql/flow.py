"""What each column of a query is made from, through subqueries, common tables, unions and joins.

A column's own inputs are those its value is made from, and those that only decide about it: conditions of CASE, a
window's partition and order. What decides which rows there are (filters, joins, groups) is told once for the query.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, Literal, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

Kind = Literal["DIRECT", "INDIRECT"]
Subtype = Literal[  # the first three are direct
    "IDENTITY", "TRANSFORMATION", "AGGREGATION", "JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"
]

_RISING: Final[tuple[Subtype, ...]] = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
"""The direct subtypes; of two on one way the stronger holds."""
_MASKING: Final = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.MD5, exp.SHA, exp.SHA2)
"""What openlineage-spark counts as masking, too: the value cannot be read back."""


class How(NamedTuple):
    """The way in which an input takes part, in OpenLineage's words."""

    kind: Kind
    subtype: Subtype
    masking: bool = False


class Input(NamedTuple):
    """A column of a table, by the table's flat name, and how it takes part."""

    table: str
    column: str
    how: How


Inputs = frozenset[Input]
NOTHING: Final[Inputs] = frozenset()
_SAME: Final = How("DIRECT", "IDENTITY")


class Flow(NamedTuple):
    """What a query's columns are made from, and what decides its rows; of `gaps` that is not all known."""

    columns: Mapping[str, Inputs]
    rows: Inputs
    gaps: frozenset[str]


def flow_of(scope: Scope) -> Flow:
    """The flow of a query, by the scope that sqlglot built of it once its columns were qualified."""
    return _Walk().of(scope)


@dataclass
class _Walk:
    known: dict[int, Flow] = field(default_factory=dict)
    """By scope. A common table that reads itself finds what it began with: nothing."""

    def of(self, scope: Scope) -> Flow:
        if id(scope) not in self.known:
            self.known[id(scope)] = Flow({}, NOTHING, frozenset())
            self.known[id(scope)] = self._of_union(scope) if scope.set_operation_scopes else self._of_select(scope)
        return self.known[id(scope)]

    def _of_union(self, scope: Scope) -> Flow:
        """By position: the columns are called as in the first part."""
        parts = [self.of(part) for part in scope.set_operation_scopes]
        first = parts[0]
        columns = {
            name: frozenset().union(*(list(part.columns.values())[at] for part in parts if at < len(part.columns)))
            for at, name in enumerate(first.columns)
        }
        places = {at for part in parts for at, name in enumerate(part.columns) if name in part.gaps}
        gaps = frozenset(name for at, name in enumerate(first.columns) if at in places)
        return Flow(columns, frozenset().union(*(part.rows for part in parts)), gaps)

    def _of_select(self, scope: Scope) -> Flow:
        if not isinstance(scope.expression, exp.Select):
            return Flow({}, NOTHING, frozenset())
        columns: dict[str, Inputs] = {}
        gaps: set[str] = set()
        for at, item in enumerate(scope.expression.selects):
            name = item.alias_or_name or f"_col{at}"
            made = _Made(self, scope)
            columns[name] = columns.get(name, NOTHING) | made.by(item.unalias())
            if made.is_open or item.is_star:
                gaps.add(name)
        return Flow(columns, self._rows(scope), frozenset(gaps))

    def _rows(self, scope: Scope) -> Inputs:
        found: set[Input] = set()
        for subtype, conditions in _conditions(scope.expression):
            for condition in conditions:
                made = _Made(self, scope, _answered(scope) if subtype == "SORT" else {})
                found |= _as(made.by(condition), How("INDIRECT", subtype))
                found |= made.rows
        for source in scope.sources.values():
            if isinstance(source, Scope) and source in (*scope.derived_table_scopes, *scope.cte_scopes, source):
                found |= self.of(source).rows
        return frozenset(found)


@dataclass
class _Made:
    """One expression of a query, on the way to its inputs."""

    walk: _Walk
    scope: Scope
    answered: Mapping[str, exp.Expr] = field(default_factory=dict)
    """Columns of the answer that may be meant where a name stands without a table's."""
    is_open: bool = False
    """Whether something of it is not known."""
    rows: set[Input] = field(default_factory=set)
    """What decides the rows of the subqueries in it."""

    def by(self, expression: exp.Expr) -> Inputs:
        found: set[Input] = set()
        whole = _SAME if isinstance(expression, exp.Column) else How("DIRECT", "TRANSFORMATION")
        for part, how in _parts(expression, whole):
            if isinstance(part, exp.Column):
                found |= _as(self._of_column(part), how)
            else:
                found |= self._of_subquery(part, how)
        return frozenset(found)

    def _of_column(self, column: exp.Column) -> Inputs:
        if not column.table and column.name in self.answered:
            return _Made(self.walk, self.scope).by(self.answered[column.name])
        source = _source(self.scope, column.table) if column.table else _only_source(self.scope)
        match source:
            case exp.Table():
                return frozenset({Input(source.name, column.name, _SAME)})
            case Scope(expression=exp.UDTF() as rows):
                return self.by(rows)
            case Scope():
                flow = self.walk.of(source)
                self.is_open |= column.name in flow.gaps or (column.name not in flow.columns and bool(flow.columns))
                return flow.columns.get(column.name, NOTHING)
        self.is_open = True
        return NOTHING

    def _of_subquery(self, query: exp.Expr, how: How) -> Inputs:
        """A subquery that stands for a value: its value's inputs, and, as conditions, what decides its rows."""
        inner = query.unnest() if isinstance(query, exp.Subquery) else query
        scope = next((each for each in self.scope.subquery_scopes if each.expression is inner), None)
        if scope is None:
            self.is_open = True
            return NOTHING
        flow = self.walk.of(scope)
        self.is_open |= bool(flow.gaps)
        self.rows |= flow.rows
        value = frozenset().union(*flow.columns.values())
        return _as(value, how) | _as(flow.rows, How("INDIRECT", "CONDITIONAL"))


def _answered(scope: Scope) -> dict[str, exp.Expr]:
    """What ORDER BY sorts by where it names a column of the answer, which hides a table's column of that name."""
    selects = scope.expression.selects if isinstance(scope.expression, exp.Select) else []
    return {item.alias: item.unalias() for item in selects if item.alias}


def _parts(expression: exp.Expr, how: How) -> Iterator[tuple[exp.Expr, How]]:
    """The columns and subqueries in an expression, each with the way in which it takes part; no recursion."""
    waiting: list[tuple[exp.Expr, How]] = [(expression, how)]
    while waiting:
        at, way = waiting.pop()
        if isinstance(at, exp.Column | exp.Query):
            yield at, way
            continue
        for name, children in at.args.items():
            inner = _way(at, name, way)
            waiting.extend((each, inner) for each in _expressions(children))


def _way(parent: exp.Expr, argument: str, way: How) -> How:
    if way.kind == "INDIRECT":
        return way
    if isinstance(parent, exp.If | exp.Case) and argument == "this":
        return How("INDIRECT", "CONDITIONAL")
    if isinstance(parent, exp.Window) and argument in ("partition_by", "order"):
        return How("INDIRECT", "WINDOW")
    if isinstance(parent, exp.Filter) and argument == "expression":
        return How("INDIRECT", "CONDITIONAL")
    is_masking = way.masking or isinstance(parent, _MASKING)
    return How("DIRECT", "AGGREGATION" if isinstance(parent, exp.AggFunc) else way.subtype, is_masking)


def _conditions(query: exp.Expr) -> Iterator[tuple[Subtype, list[exp.Expr]]]:
    for join in query.args.get("joins") or ():
        yield "JOIN", [each for each in (join.args.get("on"), *(join.args.get("using") or ())) if each is not None]
    named: tuple[tuple[str, Subtype], ...] = (
        ("where", "FILTER"),
        ("group", "GROUP_BY"),
        ("having", "FILTER"),
        ("qualify", "FILTER"),
        ("order", "SORT"),
        ("distinct", "GROUP_BY"),
    )
    for argument, subtype in named:
        if (clause := query.args.get(argument)) is not None:
            yield subtype, [clause]


def _as(inputs: Iterable[Input], outer: How) -> Inputs:
    return frozenset(Input(each.table, each.column, _through(each.how, outer)) for each in inputs)


def _through(inner: How, outer: How) -> How:
    """How an input takes part in what is made from what it took part in."""
    if outer.kind == "INDIRECT":
        return outer
    if inner.kind == "INDIRECT":
        return inner
    stronger = max(inner.subtype, outer.subtype, key=_RISING.index)
    return How("DIRECT", stronger, inner.masking or outer.masking)


def _source(scope: Scope | None, name: str) -> exp.Table | Scope | None:
    """What a qualifier stands for: of this query, or of one around it."""
    while scope is not None:
        if name in scope.sources:
            return scope.sources[name]
        scope = scope.parent
    return None


def _only_source(scope: Scope) -> exp.Table | Scope | None:
    """What a column without a qualifier is of, where there is no choice: sqlglot leaves it so for an unknown table."""
    sources = [source for _, source in scope.selected_sources.values()]
    return sources[0] if len(sources) == 1 else None


def _expressions(children: object) -> Iterator[exp.Expr]:
    for child in children if isinstance(children, list) else (children,):
        if isinstance(child, exp.Expr):
            yield child


def merged(flows: Iterable[Flow]) -> Flow:
    """The flow of several queries into the same columns."""
    return reduce(_both, flows, Flow({}, NOTHING, frozenset()))


def _both(one: Flow, other: Flow) -> Flow:
    names = dict.fromkeys((*one.columns, *other.columns))
    columns = {name: one.columns.get(name, NOTHING) | other.columns.get(name, NOTHING) for name in names}
    return Flow(columns, one.rows | other.rows, one.gaps | other.gaps)
