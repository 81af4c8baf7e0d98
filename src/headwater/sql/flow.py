"""What each column of a query is made from, through subqueries, common tables, unions and joins.

A column's own inputs are those its value is made from, and those that only decide about it: conditions of CASE, a
window's partition and order. What decides which rows there are (filters, joins, groups) is told once for the query.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.sql.ways import How, Subtype, conditions, parts

_RISING: Final[tuple[Subtype, ...]] = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
"""The direct subtypes; of two on one way the stronger holds."""
_ROUNDS: Final = 4
"""How often a common table that reads itself is gone through: a column moves on by one place a round."""


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
    """By scope."""
    earlier: Mapping[int, Flow] = field(default_factory=dict)
    """What the rounds before made of common tables that read themselves, by the part that they begin with."""

    def of(self, scope: Scope) -> Flow:
        if scope.is_cte and id(scope.expression) in self.earlier:
            return self.earlier[id(scope.expression)]
        if id(scope) not in self.known:
            self.known[id(scope)] = Flow({}, NOTHING, frozenset())
            self.known[id(scope)] = self._in_rounds(scope) if scope.set_operation_scopes else self._of_select(scope)
        return self.known[id(scope)]

    def _in_rounds(self, scope: Scope) -> Flow:
        """A common table that reads itself is read as its first part, then as what that made of it, and so on."""
        if not _reads_itself(scope) or self.earlier:
            return self._of_set_operation(scope)
        begin, found = scope.set_operation_scopes[0], self.of(scope.set_operation_scopes[0])
        for _ in range(_ROUNDS):
            before = found
            found = _Walk(earlier={id(begin.expression): before})._of_set_operation(scope)
            if found == before:
                break
        return found

    def _of_set_operation(self, scope: Scope) -> Flow:
        """By position: the columns are called as in the first part, and of INTERSECT and EXCEPT they are its own."""
        parts = [self.of(part) for part in scope.set_operation_scopes]
        values = parts if isinstance(scope.expression, exp.Union) else parts[:1]
        first = parts[0]
        columns = {
            name: frozenset().union(*(list(part.columns.values())[at] for part in values if at < len(part.columns)))
            for at, name in enumerate(first.columns)
        }
        places = {at for part in parts for at, name in enumerate(part.columns) if name in part.gaps}
        gaps = frozenset(name for at, name in enumerate(first.columns) if at in places)
        rows = frozenset().union(*(part.rows for part in parts))
        if values is not parts:
            compared = frozenset().union(*(made for part in parts for made in part.columns.values()))
            rows |= _as(compared, How("INDIRECT", "JOIN"))
        if scope.expression.args.get("distinct"):
            rows |= _each_once(columns)
        return Flow(columns, rows, gaps)

    def _of_select(self, scope: Scope) -> Flow:
        if not isinstance(scope.expression, exp.Select):
            return Flow({}, NOTHING, frozenset({"*"}))
        columns: dict[str, Inputs] = {}
        gaps: set[str] = set()
        for at, item in enumerate(scope.expression.selects):
            name = item.alias_or_name or f"_col{at}"
            made = _Made(self, scope)
            columns[name] = columns.get(name, NOTHING) | made.by(item.unalias())
            if made.is_open or item.is_star:
                gaps.add(name)
        distinct = scope.expression.args.get("distinct")
        once = _each_once(columns) if distinct is not None and not distinct.args.get("on") else NOTHING
        return Flow(columns, self._rows(scope) | once, frozenset(gaps))

    def _rows(self, scope: Scope) -> Inputs:
        found: set[Input] = set()
        for subtype, found_there in conditions(scope.expression):
            for condition in found_there:
                made = _Made(self, scope, _answered(scope) if subtype == "SORT" else {})
                found |= _as(made.by(condition), How("INDIRECT", subtype))
                found |= made.rows
        for source in scope.sources.values():
            if isinstance(source, Scope) and source in (*scope.derived_table_scopes, *scope.cte_scopes, source):
                rows = self.of(_query_in(source)).rows
                found |= rows if _query_in(source) is source else _as(rows, How("INDIRECT", "JOIN"))
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
        for part, how in parts(expression, whole, _named_windows(self.scope)):
            if isinstance(part, exp.Column):
                found |= _as(self._of_column(part), how)
            else:
                found |= self._of_subquery(part, how)
        return frozenset(found)

    def _of_column(self, column: exp.Column) -> Inputs:
        if not column.table and column.name in self.answered:
            return _Made(self.walk, self.scope).by(self.answered[column.name])
        source = _source(self.scope, column.table) if column.table else _only_source(self.scope)
        if isinstance(source, Scope):
            source = _query_in(source)
        match source:
            case exp.Table(this=exp.Identifier()):
                return frozenset({Input(source.name, column.name, _SAME)})
            case Scope(expression=exp.UDTF() as rows):
                return self.by(rows) if (made := _element(rows, column.name)) is None else self._transformed(made)
            case Scope():
                flow = self.walk.of(source)
                name = _inner_name(source, flow, column.name)
                self.is_open |= name in flow.gaps or name not in flow.columns
                return flow.columns.get(name, NOTHING)
        self.is_open = True
        return NOTHING

    def _transformed(self, expressions: Iterable[exp.Expr]) -> Inputs:
        return _as(frozenset().union(*map(self.by, expressions)), How("DIRECT", "TRANSFORMATION"))

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
        value = NOTHING if isinstance(query.parent, exp.Exists) else frozenset().union(*flow.columns.values())
        return _as(value, how) | _as(flow.rows, How("INDIRECT", "CONDITIONAL"))


def _answered(scope: Scope) -> dict[str, exp.Expr]:
    """What ORDER BY sorts by where it names a column of the answer, which hides a table's column of that name."""
    selects = scope.expression.selects if isinstance(scope.expression, exp.Select) else []
    return {item.alias: item.unalias() for item in selects if item.alias}


def _each_once(columns: Mapping[str, Inputs]) -> Inputs:
    """One row of equals: all columns decide."""
    return _as(frozenset().union(*columns.values()), How("INDIRECT", "GROUP_BY"))


def _reads_itself(scope: Scope) -> bool:
    common = scope.expression.find_ancestor(exp.CTE)
    clause = None if common is None or common.this is not scope.expression else common.parent
    return clause is not None and bool(clause.args.get("recursive"))


def _query_in(source: Scope) -> Scope:
    """The query that LATERAL stands before; any other source is itself."""
    is_lateral = isinstance(source.expression, exp.Lateral) and source.subquery_scopes
    return source.subquery_scopes[0] if is_lateral else source


def _inner_name(source: Scope, flow: Flow, name: str) -> str:
    """What a query calls a column of its own that `WITH t (a, b) AS …` calls otherwise, where it reads itself."""
    common = source.expression.find_ancestor(exp.CTE)
    if name in flow.columns or common is None or name not in common.alias_column_names:
        return name
    at = common.alias_column_names.index(name)
    return list(flow.columns)[at] if at < len(flow.columns) else name


def _element(rows: exp.Expr, name: str) -> list[exp.Expr] | None:
    """What UNNEST makes a column from; None where it may be all that stands there: maps and rows have several each."""
    if not isinstance(rows, exp.Unnest):
        return None
    number = rows.args.get("offset")
    if isinstance(number, exp.Expr) and number.name == name:
        return []
    names = rows.alias_column_names
    return [rows.expressions[names.index(name)]] if len(names) == len(rows.expressions) and name in names else None


def _named_windows(scope: Scope) -> dict[str, exp.Expr]:
    return {window.name: window for window in scope.expression.args.get("windows") or ()}


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


def merged(flows: Iterable[Flow]) -> Flow:
    """The flow of several queries into the same columns."""
    return reduce(_both, flows, Flow({}, NOTHING, frozenset()))


def _both(one: Flow, other: Flow) -> Flow:
    names = dict.fromkeys((*one.columns, *other.columns))
    columns = {name: one.columns.get(name, NOTHING) | other.columns.get(name, NOTHING) for name in names}
    return Flow(columns, one.rows | other.rows, one.gaps | other.gaps)
