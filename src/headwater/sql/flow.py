"""What each column of a query is made from, through subqueries, common tables, unions and joins.

A column's own inputs are those its value is made from, and those that only decide about it: conditions of CASE, a
window's partition and order. What decides which rows there are (filters, joins, groups) is told once for the query.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.sql.made import (
    NOTHING,
    SAME,
    Flow,
    Input,
    Inputs,
    Place,
    at_places,
    by_name,
    by_place,
    sorted_by,
    taken_as,
)
from headwater.sql.names import Rules, clause_of, has_places, is_renamed, stars_of, used_by
from headwater.sql.transformations import Transformation, conditions, parts

_ROUNDS: Final = 4
"""How often a common table that reads itself is gone through: a column moves on by one place a round."""


class TableColumns:
    """The columns of a table; `own_name` says what it calls one whose name a dialect may have folded."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names: Final = names
        self._own = {name.lower(): name for name in reversed(names)} | {name: name for name in names}

    def own_name(self, name: str) -> str | None:
        """None where the table has no column of that name."""
        return self._own.get(name) or self._own.get(name.lower())


@dataclass(frozen=True, slots=True)
class Setting:
    """What a query is read with.

    Attributes:
        columns: of the tables that are known, by flat names.
        is_in_order: whether these are all columns of the tables, in the tables' order.
        rules: where the dialect lets a name of the answer stand.
    """

    columns: Mapping[str, TableColumns]
    is_in_order: bool
    rules: Rules


def flow_of(scope: Scope, setting: Setting) -> Flow:
    """The flow of a query, by the scope that sqlglot built of it once it was marked and its columns were qualified."""
    return _Walk(setting).of(scope)


class _Answer(NamedTuple):
    """A column of the answer, for the clauses that name it; `names`: the names that stand alone in it."""

    made: Inputs
    is_open: bool
    names: frozenset[str]


class _Read(NamedTuple):
    """Something that a query reads: where it names it, and what that is."""

    node: exp.Expr
    source: exp.Table | Scope


@dataclass
class _Walk:
    setting: Setting
    earlier: Mapping[int, Flow] = field(default_factory=dict)
    """What the rounds before made of common tables that read themselves, by the part that they begin with."""
    known: dict[int, Flow] = field(default_factory=dict)
    """By scope."""
    answers: dict[int, dict[str, _Answer]] = field(default_factory=dict)
    """By scope, as far as its items have been gone through."""

    def of(self, scope: Scope) -> Flow:
        if scope.is_cte and id(scope.expression) in self.earlier:
            return self.earlier[id(scope.expression)]
        if id(scope) not in self.known:
            self.known[id(scope)] = Flow((), NOTHING)
            self.known[id(scope)] = self._in_rounds(scope) if scope.set_operation_scopes else self._of_select(scope)
        return self.known[id(scope)]

    def _in_rounds(self, scope: Scope) -> Flow:
        """A common table that reads itself is read as its first part, then as what that made of it, and so on."""
        if not _reads_itself(scope) or self.earlier:
            return self._of_set_operation(scope)
        begin, found = scope.set_operation_scopes[0], self.of(scope.set_operation_scopes[0])
        for _ in range(_ROUNDS):
            before = found
            found = _Walk(self.setting, {id(begin.expression): before})._of_set_operation(scope)
            if found == before:
                break
        return found

    def _of_set_operation(self, scope: Scope) -> Flow:
        parts = [self.of(part) for part in scope.set_operation_scopes]
        values = parts if isinstance(scope.expression, exp.Union) else parts[:1]
        if scope.expression.args.get("by_name"):
            places, is_in_order = by_name(parts, values, scope.expression), all(part.is_in_order for part in parts)
        else:
            places, is_in_order = by_place(values), parts[0].is_in_order
        everything = frozenset[Input]().union(*(part.made for part in parts))
        rows = frozenset[Input]().union(*(part.rows for part in parts))
        if values is not parts:
            rows |= taken_as(everything, Transformation("INDIRECT", "JOIN"))
        if scope.expression.args.get("distinct"):
            rows |= taken_as(everything if values is parts else parts[0].made, Transformation("INDIRECT", "GROUP_BY"))
        answer = Flow(places, rows, is_in_order)
        return replace(answer, rows=rows | sorted_by(answer, scope.expression.args.get("order")))

    def _of_select(self, scope: Scope) -> Flow:
        select = scope.expression
        if not isinstance(select, exp.Select):
            return Flow((Place("*", NOTHING, is_open=True),), NOTHING, is_in_order=False)
        is_in_order = self._is_in_order(scope, select)
        has_other_names = is_renamed(select) and not is_in_order
        places = []
        answers = self.answers[id(scope)] = {}
        for at, item in enumerate(select.selects):
            name = item.alias_or_name or f"_col{at}"
            made = _ExpressionInputs(self, scope)
            inputs = made.by(item.unalias())
            if item.find(exp.Columns):
                name, inputs, made.is_open = "*", NOTHING, True
            is_open = made.is_open or item.is_star
            answers.setdefault(name, _Answer(inputs, is_open, _names_alone(item)))
            places.append(Place(name, NOTHING, is_open=True) if has_other_names else Place(name, inputs, is_open))
        if self._has_left_out(scope, select):
            is_in_order = False
            places.append(Place("*", NOTHING, is_open=True))
        answer = Flow(tuple(places), NOTHING, is_in_order)
        distinct = select.args.get("distinct")
        once = distinct is not None and not distinct.args.get("on")
        rows = taken_as(answer.made, Transformation("INDIRECT", "GROUP_BY")) if once else NOTHING
        rows |= taken_as(at_places(answer, select.args.get("order")), Transformation("INDIRECT", "SORT"))
        return replace(answer, rows=self._rows(scope, is_in_order) | rows)

    def _is_in_order(self, scope: Scope, select: exp.Select) -> bool:
        """Not where a star stands for columns whose order is not known, or for columns that nobody knows."""
        if any(item.is_star for item in select.selects):
            return False
        sources = {name: source for name, (_, source) in scope.selected_sources.items()}
        starred = {name for star in stars_of(select) for name in ([star] if star else sources)}
        return all(name in sources and self._source_order(sources[name]) for name in starred)

    def _has_left_out(self, scope: Scope, select: exp.Select) -> bool:
        """Whether a column has the name of one that others are joined by with USING: sqlglot's star leaves it out."""
        if "" not in stars_of(select):
            return False
        reads = _reads(scope)
        return any(
            sum(self.has(read, name) is True for read in reads) > joins + 1 for name, joins in used_by(select).items()
        )

    def _source_order(self, source: exp.Table | Scope) -> bool:
        if isinstance(source, exp.Table):
            return self.setting.is_in_order
        inner = _query_in(source)
        return True if isinstance(inner.expression, exp.UDTF) else self.of(inner).is_in_order

    def _rows(self, scope: Scope, is_in_order: bool) -> Inputs:
        found: set[Input] = set()
        for subtype, found_there in conditions(scope.expression):
            for condition in found_there:
                if has_places(condition) and not is_in_order:
                    continue
                made = _ExpressionInputs(
                    self, scope, is_of_answer=subtype == "SORT" or isinstance(condition, exp.Distinct)
                )
                found |= taken_as(made.by(condition), Transformation("INDIRECT", subtype))
                found |= made.rows
        for read in _compared(scope):
            found |= self._rows_of(scope, read.source) | _ExpressionInputs(self, scope).pivoted_rows(read)
        return frozenset(found)

    def _rows_of(self, scope: Scope, source: exp.Table | Scope) -> Inputs:
        """What decides the rows of something that a query reads: of UNNEST and its like, what they take apart."""
        join = Transformation("INDIRECT", "JOIN")
        match source:
            case exp.Table(this=exp.Identifier()) | Scope(expression=exp.Values()):
                return NOTHING
            case exp.Table():
                return taken_as(_ExpressionInputs(self, scope).by(source.this), join)
        inner = _query_in(source)
        if isinstance(inner.expression, exp.UDTF):
            return taken_as(_ExpressionInputs(self, scope).by(inner.expression), join)
        rows = self.of(inner).rows
        return rows if inner is source else taken_as(rows, join)

    def has(self, read: _Read, name: str) -> bool | None:
        """Whether something has a column of that name; None where that is not known."""
        if pivots := read.node.args.get("pivots"):
            return self._has_pivoted(pivots, read, name)
        if isinstance(read.source, exp.Table):
            columns = self.setting.columns.get(read.source.name)
            return None if columns is None else columns.own_name(name) is not None
        inner = _query_in(read.source)
        if isinstance(inner.expression, exp.UDTF):
            return name in inner.expression.alias_column_names or None
        flow = self.of(inner)
        if _inner_name(inner, flow, name) in flow.columns:
            return True
        return None if "*" in flow.columns else False

    def _has_pivoted(self, pivots: Sequence[exp.Pivot], read: _Read, name: str) -> bool | None:
        new = pivots[0].output_columns(())
        if len(pivots) > 1 or not new:
            return None
        return name in new or (
            name in pivots[0].output_columns((name,)) and self.has(_Read(exp.Table(), read.source), name)
        )


@dataclass
class _ExpressionInputs:
    """One expression of a query, on the way to its inputs."""

    walk: _Walk
    scope: Scope
    is_of_answer: bool = False
    """Whether a name without a table's means the answer's column first, as in ORDER BY."""
    is_open: bool = False
    """Whether something of it is not known."""
    rows: set[Input] = field(default_factory=set)
    """What decides the rows of the subqueries in it."""

    def by(self, expression: exp.Expr) -> Inputs:
        found: set[Input] = set()
        whole = SAME if isinstance(expression, exp.Column) else Transformation("DIRECT", "TRANSFORMATION")
        for part, how in parts(expression, whole, _named_windows(self.scope)):
            match part:
                case exp.Column(this=exp.Star(), table=str(table)) | exp.TableColumn(name=str(table)):
                    found |= taken_as(self._of_row(_named(self.scope, table)), how)
                case exp.Column():
                    found |= taken_as(self._of_column(part), how)
                case exp.Columns():
                    for read in _reads(self.scope):
                        found |= taken_as(self._of_row(read), how)
                case _:
                    found |= self._of_subquery(part, how)
        return frozenset(found)

    def _of_row(self, read: _Read | None) -> Inputs:
        """All columns of what a name stands for, as one value; what PIVOT made them into is in them, too."""
        columns = {} if read is None else self._columns(read.source)
        self.is_open |= not columns
        return self._transformed(columns.values())

    def _columns(self, source: exp.Table | Scope) -> Mapping[str, Inputs]:
        """What each column of something that is read is made from; none where they are not known."""
        inner = _query_in(source) if isinstance(source, Scope) else source
        match inner:
            case Scope(expression=exp.UDTF() as rows):
                return {"*": self.by(rows)}
            case Scope():
                flow = self.walk.of(inner)
                self.is_open |= bool(flow.gaps)
                return flow.columns
            case exp.Table() if (columns := self.walk.setting.columns.get(inner.name)) is not None:
                return {name: frozenset({Input(inner.name, name, SAME)}) for name in columns.names}
        return {}

    def _of_column(self, column: exp.Column) -> Inputs:
        if (answer := self._answer(column)) is not None:
            self.is_open |= answer.is_open
            return answer.made
        named = _named(self.scope, column.table)
        is_guessed = named is not None and "pivots" in named.node.args and self.walk.has(named, column.name) is False
        is_alone = not column.table or is_guessed  # sqlglot takes what is pivoted for what has all names
        reads = self._reads_with(column.name) if is_alone else [] if named is None else [named]
        self.is_open |= len(reads) != 1
        return frozenset[Input]().union(*(self._of_read(read, column.name) for read in reads))

    def _of_read(self, read: _Read, name: str) -> Inputs:
        pivots = read.node.args.get("pivots")
        return self._of_pivoted(pivots, read.source, name) if pivots else self._of_source(read.source, name)

    def _of_source(self, source: exp.Table | Scope, name: str) -> Inputs:
        if isinstance(source, Scope):
            source = _query_in(source)
        match source:
            case exp.Table(this=exp.Identifier()):
                columns = self.walk.setting.columns.get(source.name)
                own = name if columns is None else columns.own_name(name)
                self.is_open |= own is None
                return NOTHING if own is None else frozenset({Input(source.name, own, SAME)})
            case Scope(expression=exp.UDTF() as rows):
                made = _element(rows, name)
                return self.by(rows) if made is None else self._transformed(map(self.by, made))
            case Scope():
                flow = self.walk.of(source)
                name = _inner_name(source, flow, name)
                self.is_open |= name in flow.gaps or name not in flow.columns
                return flow.columns.get(name, NOTHING)
        self.is_open = True
        return NOTHING

    def _answer(self, column: exp.Column) -> _Answer | None:
        """The column of the answer that a name means; None where it means one of what is read."""
        answer = self.walk.answers.get(id(self.scope), {}).get(column.name)
        clause = clause_of(column)
        if answer is None or (self.is_of_answer and not column.table and clause != "order"):
            return answer
        rules = self.walk.setting.rules
        if clause is None or clause not in rules.allowed or clause in rules.first:
            return answer if clause in rules.first else None
        is_there = self._is_read(column.name)
        # Of a table that nobody knows: the column is there if the answer's own is made from it.
        return None if is_there or (is_there is None and column.name in answer.names) else answer

    def _is_read(self, name: str) -> bool | None:
        found = [self.walk.has(read, name) for read in _reads(self.scope)]
        return True if True in found else None if None in found else False

    def _reads_with(self, name: str) -> list[_Read]:
        """All that a column without a qualifier may be of: sqlglot leaves some so."""
        scope: Scope | None = self.scope
        while scope is not None:
            for reads in (_reads(scope), [*_compared(scope)]):
                known = [(read, self.walk.has(read, name)) for read in reads]
                found = [read for read, has in known if has] or [read for read, has in known if has is None]
                if found:
                    return found
            scope = scope.parent
        return []

    def _of_pivoted(self, pivots: Sequence[exp.Pivot], source: exp.Table | Scope, name: str) -> Inputs:
        """What UNPIVOT makes comes from all columns that it names; what PIVOT makes, from all that it aggregates."""
        pivot, new = pivots[0], pivots[0].output_columns(())
        if len(pivots) > 1:
            self.is_open = True
            return NOTHING
        if name not in new and name in pivot.output_columns((name,)):
            return self._of_source(source, name)
        self.is_open |= name not in new
        if pivot.unpivot and name in (field.this.name for field in pivot.fields):
            return NOTHING
        value, chosen = Transformation("DIRECT", "TRANSFORMATION"), Transformation("INDIRECT", "CONDITIONAL")
        turned = [(each, value if pivot.unpivot else chosen) for each in pivot.fields]
        aggregates = [] if pivot.unpivot else [(each, value) for each in pivot.expressions]
        found = [part for each, how in (*turned, *aggregates) for part in parts(each, how, {})]
        columns = (taken_as(self._of_source(source, part.name), how) for part, how in found)
        return frozenset[Input]().union(*columns)

    def pivoted_rows(self, read: _Read) -> Inputs:
        """UNPIVOT leaves nulls out; PIVOT makes one row of all that agree in what it does not name."""
        pivots = read.node.args.get("pivots")
        if not pivots or pivots[0].args.get("include_nulls"):
            return NOTHING
        pivot, group, columns = pivots[0], pivots[0].args.get("group"), self._columns(read.source)
        named = {column.name.lower() for column in (group or pivot).find_all(exp.Column)}
        is_by_others = group is None and not pivot.unpivot
        decide = (made for name, made in columns.items() if (name.lower() in named) is not is_by_others)
        how = Transformation("INDIRECT", "FILTER" if pivot.unpivot else "GROUP_BY")
        return taken_as(frozenset[Input]().union(*decide), how)

    def _transformed(self, made: Iterable[Inputs]) -> Inputs:
        return taken_as(frozenset[Input]().union(*made), Transformation("DIRECT", "TRANSFORMATION"))

    def _of_subquery(self, query: exp.Expr, how: Transformation) -> Inputs:
        """A subquery that stands for a value: its value's inputs, and, as conditions, what decides its rows."""
        inner = query.unnest() if isinstance(query, exp.Subquery) else query
        scope = next((each for each in self.scope.subquery_scopes if each.expression is inner), None)
        if scope is None:
            self.is_open = True
            return NOTHING
        flow = self.walk.of(scope)
        self.is_open |= bool(flow.gaps)
        self.rows |= flow.rows
        value = NOTHING if isinstance(query.parent, exp.Exists) else flow.made
        return taken_as(value, how) | taken_as(flow.rows, Transformation("INDIRECT", "CONDITIONAL"))


def _reads_itself(scope: Scope) -> bool:
    common = scope.expression.find_ancestor(exp.CTE)
    clause = None if common is None or common.this is not scope.expression else common.parent
    return clause is not None and bool(clause.args.get("recursive"))


def _names_alone(item: exp.Expr) -> frozenset[str]:
    return frozenset(column.name for column in item.find_all(exp.Column) if clause_of(column) is not None)


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
    return flow.places[at].name if at < len(flow.places) else name


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


def _reads(scope: Scope) -> list[_Read]:
    """What a query may take columns of; not what it joins by SEMI or ANTI."""
    return [_Read(node, source) for node, source in scope.selected_sources.values()]


def _compared(scope: Scope) -> Iterator[_Read]:
    """All that a query names in FROM and JOIN, also what it joins by SEMI or ANTI."""
    return (_Read(node, scope.sources[name]) for name, node in scope.references if name in scope.sources)


def _named(scope: Scope | None, name: str) -> _Read | None:
    """What a qualifier stands for: of this query, or of one around it."""
    while scope is not None:
        for alias, node in scope.references:
            is_meant = name == alias or any(name == pivot.alias for pivot in node.args.get("pivots") or ())
            if is_meant and alias in scope.sources:
                return _Read(node, scope.sources[alias])
        scope = scope.parent
    return None
