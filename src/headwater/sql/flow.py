"""The inputs of each column of a query, through subqueries, common tables, unions and joins.

A column's own inputs are those of its value, and those that only decide about it: conditions of CASE, a window's
partition and order. What decides which rows there are (filters, joins, groups) is reported once for the query.
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
"""Iterations over a recursive common table: a column advances by one place per iteration."""


class TableColumns:
    """The columns of a table; `own_name` undoes a dialect's case folding."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names: Final = names
        self._own = {name.lower(): name for name in reversed(names)} | {name: name for name in names}

    def own_name(self, name: str) -> str | None:
        """None if the table has no such column."""
        return self._own.get(name) or self._own.get(name.lower())


@dataclass(frozen=True, slots=True)
class Setting:
    """The context for reading a query.

    Attributes:
        columns: of the known tables, by flat name.
        is_in_order: whether these are all columns of the tables, in the tables' order.
        rules: where the dialect allows names of the answer.
    """

    columns: Mapping[str, TableColumns]
    is_in_order: bool
    rules: Rules


def flow_of(scope: Scope, setting: Setting) -> Flow:
    """The flow of a query, from its sqlglot scope; the query must be marked and its columns qualified."""
    return _Walk(setting).of(scope)


class _Answer(NamedTuple):
    """A column of the answer, for clauses that name it; `names`: the unqualified names in it."""

    made: Inputs
    is_open: bool
    names: frozenset[str]


class _Read(NamedTuple):
    """A source that a query reads: the place that names it, and what it is."""

    node: exp.Expr
    source: exp.Table | Scope


@dataclass
class _Walk:
    setting: Setting
    earlier: Mapping[int, Flow] = field(default_factory=dict)
    """The results of earlier iterations for recursive common tables, by their first part."""
    known: dict[int, Flow] = field(default_factory=dict)
    """Cache, by scope."""
    answers: dict[int, dict[str, _Answer]] = field(default_factory=dict)
    """Answer columns by scope, as far as processed."""

    def of(self, scope: Scope) -> Flow:
        if scope.is_cte and id(scope.expression) in self.earlier:
            return self.earlier[id(scope.expression)]
        if id(scope) not in self.known:
            self.known[id(scope)] = Flow((), NOTHING)
            self.known[id(scope)] = self._in_rounds(scope) if scope.set_operation_scopes else self._of_select(scope)
        return self.known[id(scope)]

    def _in_rounds(self, scope: Scope) -> Flow:
        """A recursive common table is evaluated as its first part, then with that as its input, and so on."""
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
            made = _ExpressionInputs(self, scope)
            names, inputs = _names(item, at), made.by(item.unalias())
            if item.find(exp.Columns, exp.Apply):
                names, inputs, made.is_open = ["*"], NOTHING, True
            is_open = made.is_open or item.is_star
            for name in names:
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
        """False where a star expands to columns in unknown order, or to unknown columns."""
        if any(item.is_star for item in select.selects):
            return False
        sources = {name: source for name, (_, source) in scope.selected_sources.items()}
        starred = {name for star in stars_of(select) for name in ([star] if star else sources)}
        return all(name in sources and self._source_order(sources[name]) for name in starred)

    def _has_left_out(self, scope: Scope, select: exp.Select) -> bool:
        """Whether a column has the name of a USING column, which sqlglot's star then omits."""
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
        """What decides the rows of a source: for UNNEST and its like, the collections they take apart."""
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
        """Whether a source has a column of that name; None if unknown."""
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
    """Collects the inputs of one expression of a query."""

    walk: _Walk
    scope: Scope
    is_of_answer: bool = False
    """Whether an unqualified name means the answer's column first, as in ORDER BY."""
    is_open: bool = False
    """Whether part of it is unknown."""
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
                case exp.Columns() | exp.Star():
                    for read in _reads(self.scope):
                        found |= taken_as(self._of_row(read), how)
                case _:
                    found |= self._of_subquery(part, how)
        return frozenset(found)

    def _of_row(self, read: _Read | None) -> Inputs:
        """All columns of a source as one value, including those that PIVOT consumed."""
        columns = {} if read is None else self._columns(read.source)
        self.is_open |= not columns
        return self._transformed(columns.values())

    def _columns(self, source: exp.Table | Scope) -> Mapping[str, Inputs]:
        """The inputs of each column of a source; empty if they are unknown."""
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
        """The answer's column that a name means; None if it means a source's."""
        answer = self.walk.answers.get(id(self.scope), {}).get(column.name)
        clause = clause_of(column)
        if answer is None or (self.is_of_answer and not column.table and clause != "order"):
            return answer
        rules = self.walk.setting.rules
        if clause is None or clause not in rules.allowed or clause in rules.first:
            return answer if clause in rules.first else None
        is_there = self._is_read(column.name)
        # For an unknown table: the column exists if the answer's own column is made from it.
        return None if is_there or (is_there is None and column.name in answer.names) else answer

    def _is_read(self, name: str) -> bool | None:
        found = [self.walk.has(read, name) for read in _reads(self.scope)]
        return True if True in found else None if None in found else False

    def _reads_with(self, name: str) -> list[_Read]:
        """All sources that an unqualified column may belong to: sqlglot leaves some unqualified."""
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
        """UNPIVOT's columns come from all columns that it names; PIVOT's from all that it aggregates."""
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
        """UNPIVOT drops nulls; PIVOT groups by all columns that it does not name."""
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
        """A scalar subquery: its value's inputs, plus, as conditions, what decides its rows."""
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


def _names(item: exp.Expr, at: int) -> Sequence[str]:
    """What the columns are called that an item makes: several where it says so, `stack(2, 1, 2) AS (a, b)`."""
    if isinstance(item, exp.Aliases):
        return [alias.name for alias in item.aliases]
    return [item.alias_or_name or f"_col{at}"]


def _names_alone(item: exp.Expr) -> frozenset[str]:
    return frozenset(column.name for column in item.find_all(exp.Column) if clause_of(column) is not None)


def _query_in(source: Scope) -> Scope:
    """The query inside LATERAL; any other source unchanged."""
    is_lateral = isinstance(source.expression, exp.Lateral) and source.subquery_scopes
    return source.subquery_scopes[0] if is_lateral else source


def _inner_name(source: Scope, flow: Flow, name: str) -> str:
    """A recursive query's own name for a column that `WITH t (a, b) AS …` renames."""
    common = source.expression.find_ancestor(exp.CTE)
    if name in flow.columns or common is None or name not in common.alias_column_names:
        return name
    at = common.alias_column_names.index(name)
    return flow.places[at].name if at < len(flow.places) else name


def _element(rows: exp.Expr, name: str) -> list[exp.Expr] | None:
    """The operand of UNNEST for a column; None if it may be any of them: maps and rows expand to several columns."""
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
    """The sources that columns may come from; not those of SEMI and ANTI joins."""
    return [_Read(node, source) for node, source in scope.selected_sources.values()]


def _compared(scope: Scope) -> Iterator[_Read]:
    """All sources in FROM and JOIN, including those of SEMI and ANTI joins."""
    return (_Read(node, scope.sources[name]) for name, node in scope.references if name in scope.sources)


def _named(scope: Scope | None, name: str) -> _Read | None:
    """The source that a qualifier names, in this query or an enclosing one."""
    while scope is not None:
        for alias, node in scope.references:
            is_meant = name == alias or any(name == pivot.alias for pivot in node.args.get("pivots") or ())
            if is_meant and alias in scope.sources:
                return _Read(node, scope.sources[alias])
        scope = scope.parent
    return None
