"""The inputs of each output column of a query, through subqueries, common tables, set operations and joins.

A column has direct inputs, which its value is computed from, and indirect ones, which it depends on: conditions of
CASE, a window's partition and order. Inputs that decide which rows there are (filters, joins, groups) are reported once
for the query.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.sql.identifiers import has_unnamed_sources
from headwater.sql.names import AliasRules, clause_of, has_ordinals, is_renamed, stars_of, using_counts
from headwater.sql.outputs import (
    NOTHING,
    SAME,
    Input,
    Inputs,
    OutputColumn,
    QueryLineage,
    by_name,
    by_ordinals,
    by_position,
    sorted_by,
    used_as,
)
from headwater.sql.transformations import Transformation, column_uses, row_conditions

_ITERATIONS: Final = 4
"""Iterations over a recursive common table: an input reaches one more column per iteration."""


class TableColumns:
    """The columns of a table, found by names in a dialect's case folding."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names: Final = names
        self._own = {name.lower(): name for name in reversed(names)} | {name: name for name in names}

    def own_name(self, name: str) -> str | None:
        """The table's own spelling of the name; None if it has no such column."""
        return self._own.get(name) or self._own.get(name.lower())


@dataclass(frozen=True, slots=True)
class Context:
    """What is needed to resolve a query.

    Attributes:
        columns: of the known tables, by flat name.
        is_in_order: whether these are all columns of the tables, in the tables' order.
        rules: where the dialect allows column aliases.
    """

    columns: Mapping[str, TableColumns]
    is_in_order: bool
    rules: AliasRules


def query_lineage(scope: Scope, context: Context) -> QueryLineage:
    """The lineage of a query, from its sqlglot scope; the query must be marked and its columns qualified."""
    return _Resolver(context).of(scope)


class _SelectItem(NamedTuple):
    """An item of the SELECT list, for clauses that refer to its alias; `names`: the unqualified names in it."""

    inputs: Inputs
    is_incomplete: bool
    names: frozenset[str]


class _SourceRef(NamedTuple):
    """A reference to a source in FROM or JOIN, and the source."""

    node: exp.Expr
    source: exp.Table | Scope


@dataclass
class _Resolver:
    """Computes the lineage of scopes, each once."""

    context: Context
    previous: Mapping[int, QueryLineage] = field(default_factory=dict)
    """The result of the previous iteration for recursive common tables, by their anchor query."""
    known: dict[int, QueryLineage] = field(default_factory=dict)
    """Cache, by scope."""
    items: dict[int, dict[str, _SelectItem]] = field(default_factory=dict)
    """SELECT items by alias, by scope; only those before the current one while a SELECT is processed."""

    def of(self, scope: Scope) -> QueryLineage:
        if scope.is_cte and id(scope.expression) in self.previous:
            return self.previous[id(scope.expression)]
        if id(scope) not in self.known:
            self.known[id(scope)] = QueryLineage((), NOTHING)
            self.known[id(scope)] = self._of_recursive(scope) if scope.set_operation_scopes else self._of_select(scope)
        return self.known[id(scope)]

    def _of_recursive(self, scope: Scope) -> QueryLineage:
        """A set operation. A recursive common table starts as its anchor; each iteration reads the one before."""
        if not _is_recursive(scope) or self.previous:
            return self._of_set_operation(scope)
        anchor, found = scope.set_operation_scopes[0], self.of(scope.set_operation_scopes[0])
        for _ in range(_ITERATIONS):
            before = found
            found = _Resolver(self.context, {id(anchor.expression): before})._of_set_operation(scope)
            if found == before:
                break
        return found

    def _of_set_operation(self, scope: Scope) -> QueryLineage:
        branches = [self.of(branch) for branch in scope.set_operation_scopes]
        values = branches if isinstance(scope.expression, exp.Union) else branches[:1]
        if scope.expression.args.get("by_name"):
            outputs = by_name(branches, values, scope.expression)
            is_in_order = all(branch.is_in_order for branch in branches)
        else:
            outputs, is_in_order = by_position(values), branches[0].is_in_order
        everything = frozenset[Input]().union(*(branch.all_inputs for branch in branches))
        rows = frozenset[Input]().union(*(branch.rows for branch in branches))
        if values is not branches:
            rows |= used_as(everything, Transformation("INDIRECT", "JOIN"))
        if scope.expression.args.get("distinct"):
            compared = everything if values is branches else branches[0].all_inputs
            rows |= used_as(compared, Transformation("INDIRECT", "GROUP_BY"))
        result = QueryLineage(outputs, rows, is_in_order)
        return replace(result, rows=rows | sorted_by(result, scope.expression.args.get("order")))

    def _of_select(self, scope: Scope) -> QueryLineage:
        select = scope.expression
        if not isinstance(select, exp.Select):
            return QueryLineage((OutputColumn("*", NOTHING, is_incomplete=True),), NOTHING, is_in_order=False)
        is_in_order = self._is_in_order(scope, select)
        has_other_names = is_renamed(select) and not is_in_order
        outputs = []
        items = self.items[id(scope)] = {}
        for at, item in enumerate(select.selects):
            reader = _ExpressionInputs(self, scope)
            names, inputs = _names(item, at), reader.of(item.unalias())
            if item.find(exp.Columns, exp.Apply):
                names, inputs, reader.is_incomplete = ["*"], NOTHING, True
            is_incomplete = reader.is_incomplete or item.is_star
            for name in names:
                items.setdefault(name, _SelectItem(inputs, is_incomplete, _unqualified_names(item)))
                known = OutputColumn(name, inputs, is_incomplete)
                outputs.append(OutputColumn(name, NOTHING, is_incomplete=True) if has_other_names else known)
        if self._star_omits_column(scope, select):
            is_in_order = False
            outputs.append(OutputColumn("*", NOTHING, is_incomplete=True))
        result = QueryLineage(tuple(outputs), NOTHING, is_in_order)
        distinct = select.args.get("distinct")
        is_distinct = distinct is not None and not distinct.args.get("on")
        rows = used_as(result.all_inputs, Transformation("INDIRECT", "GROUP_BY")) if is_distinct else NOTHING
        rows |= used_as(by_ordinals(result, select.args.get("order")), Transformation("INDIRECT", "SORT"))
        return replace(result, rows=self._rows(scope, is_in_order) | rows)

    def _is_in_order(self, scope: Scope, select: exp.Select) -> bool:
        """False where a star expands to columns in unknown order, or to unknown columns."""
        if any(item.is_star for item in select.selects):
            return False
        sources = {name: source for name, (_, source) in scope.selected_sources.items()}
        starred = {name for star in stars_of(select) for name in ([star] if star else sources)}
        return all(name in sources and self._source_order(sources[name]) for name in starred)

    def _star_omits_column(self, scope: Scope, select: exp.Select) -> bool:
        """Whether a further column has the name of a USING column: sqlglot's star omits it."""
        if "" not in stars_of(select):
            return False
        refs = _column_sources(scope)
        return any(
            sum(self.has(ref, name) is True for ref in refs) > joins + 1 for name, joins in using_counts(select).items()
        )

    def _source_order(self, source: exp.Table | Scope) -> bool:
        if isinstance(source, exp.Table):
            return self.context.is_in_order
        inner = _unwrapped(source)
        return True if isinstance(inner.expression, exp.UDTF) else self.of(inner).is_in_order

    def _rows(self, scope: Scope, is_in_order: bool) -> Inputs:
        found: set[Input] = set()
        for subtype, expressions in row_conditions(scope.expression):
            for condition in expressions:
                if has_ordinals(condition) and not is_in_order:
                    continue
                reader = _ExpressionInputs(
                    self, scope, prefers_output=subtype == "SORT" or isinstance(condition, exp.Distinct)
                )
                found |= used_as(reader.of(condition), Transformation("INDIRECT", subtype))
                found |= reader.rows
        for ref in _all_sources(scope):
            found |= self._rows_of_source(scope, ref.source) | _ExpressionInputs(self, scope).rows_of_pivot(ref)
        return frozenset(found)

    def _rows_of_source(self, scope: Scope, source: exp.Table | Scope) -> Inputs:
        """The inputs that decide a source's rows: for UNNEST and the like, those of the collections that it expands."""
        join = Transformation("INDIRECT", "JOIN")
        match source:
            case exp.Table(this=exp.Identifier()) | Scope(expression=exp.Values()):
                return NOTHING
            case exp.Table():
                return used_as(_ExpressionInputs(self, scope).of(source.this), join)
        inner = _unwrapped(source)
        if isinstance(inner.expression, exp.UDTF):
            return used_as(_ExpressionInputs(self, scope).of(inner.expression), join)
        rows = self.of(inner).rows
        return rows if inner is source else used_as(rows, join)

    def has(self, ref: _SourceRef, name: str) -> bool | None:
        """Whether a source has a column of that name; None if unknown."""
        if pivots := ref.node.args.get("pivots"):
            return self._has_pivoted(pivots, ref, name)
        if isinstance(ref.source, exp.Table):
            columns = self.context.columns.get(ref.source.name)
            return None if columns is None else columns.own_name(name) is not None
        inner = _unwrapped(ref.source)
        if isinstance(inner.expression, exp.UDTF):
            return name in inner.expression.alias_column_names or None
        lineage = self.of(inner)
        if _inner_name(inner, lineage, name) in lineage.columns:
            return True
        return None if "*" in lineage.columns else False

    def _has_pivoted(self, pivots: Sequence[exp.Pivot], ref: _SourceRef, name: str) -> bool | None:
        new = pivots[0].output_columns(())
        if len(pivots) > 1 or not new:
            return None
        return name in new or (
            name in pivots[0].output_columns((name,)) and self.has(_SourceRef(exp.Table(), ref.source), name)
        )


@dataclass
class _ExpressionInputs:
    """Collects the inputs of one expression of a query."""

    resolver: _Resolver
    scope: Scope
    prefers_output: bool = False
    """Whether an unqualified name is resolved as a column alias first, as in ORDER BY."""
    is_incomplete: bool = False
    """Whether part of the inputs is unknown."""
    rows: set[Input] = field(default_factory=set)
    """The inputs that decide the rows of subqueries in the expression."""

    def of(self, expression: exp.Expr) -> Inputs:
        found: set[Input] = set()
        whole = SAME if isinstance(expression, exp.Column) else Transformation("DIRECT", "TRANSFORMATION")
        for use, how in column_uses(expression, whole, _named_windows(self.scope)):
            match use:
                case exp.Column(this=exp.Star(), table=str(table)) | exp.TableColumn(name=str(table)):
                    found |= used_as(self._of_row(_source_named(self.scope, table)), how)
                case exp.Column():
                    found |= used_as(self._of_column(use), how)
                case exp.Columns() | exp.Star():
                    for ref in _column_sources(self.scope):
                        found |= used_as(self._of_row(ref), how)
                case _:
                    found |= self._of_subquery(use, how)
        return frozenset(found)

    def _of_row(self, ref: _SourceRef | None) -> Inputs:
        """All columns of a source as one value, including those that PIVOT consumes."""
        columns = {} if ref is None else self._columns(ref.source)
        self.is_incomplete |= not columns
        return self._transformed(columns.values())

    def _columns(self, source: exp.Table | Scope) -> Mapping[str, Inputs]:
        """The inputs of each column of a source; empty if they are unknown."""
        inner = _unwrapped(source) if isinstance(source, Scope) else source
        match inner:
            case Scope(expression=exp.UDTF() as rows):
                return {"*": self.of(rows)}
            case Scope():
                lineage = self.resolver.of(inner)
                self.is_incomplete |= bool(lineage.gaps)
                return lineage.columns
            case exp.Table() if (columns := self.resolver.context.columns.get(inner.name)) is not None:
                return {name: frozenset({Input(inner.name, name, SAME)}) for name in columns.names}
        return {}

    def _of_column(self, column: exp.Column) -> Inputs:
        if not isinstance(column.this, exp.Identifier):  # known by its position, or by a variable
            self.is_incomplete = True
            return NOTHING
        if (item := self._select_item(column)) is not None:
            self.is_incomplete |= item.is_incomplete
            return item.inputs
        named = _source_named(self.scope, column.table)
        is_guessed = (
            named is not None and "pivots" in named.node.args and self.resolver.has(named, column.name) is False
        )
        is_unqualified = not column.table or is_guessed  # sqlglot takes a pivoted source to have every column
        refs = self._sources_with(column.name) if is_unqualified else [] if named is None else [named]
        self.is_incomplete |= len(refs) != 1
        return frozenset[Input]().union(*(self._of_ref(ref, column.name) for ref in refs))

    def _of_ref(self, ref: _SourceRef, name: str) -> Inputs:
        pivots = ref.node.args.get("pivots")
        return self._of_pivoted(pivots, ref.source, name) if pivots else self._of_source(ref.source, name)

    def _of_source(self, source: exp.Table | Scope, name: str) -> Inputs:
        if isinstance(source, Scope):
            source = _unwrapped(source)
        match source:
            case exp.Table(this=exp.Identifier()):
                columns = self.resolver.context.columns.get(source.name)
                own = name if columns is None else columns.own_name(name)
                self.is_incomplete |= own is None
                return NOTHING if own is None else frozenset({Input(source.name, own, SAME)})
            case Scope(expression=exp.UDTF() as rows):
                self.is_incomplete |= rows.find(exp.Column) is None and has_unnamed_sources(rows)
                operands = _unnest_operands(rows, name)
                return self.of(rows) if operands is None else self._transformed(map(self.of, operands))
            case Scope():
                lineage = self.resolver.of(source)
                name = _inner_name(source, lineage, name)
                self.is_incomplete |= name in lineage.gaps or name not in lineage.columns
                return lineage.columns.get(name, NOTHING)
        self.is_incomplete = True
        return NOTHING

    def _select_item(self, column: exp.Column) -> _SelectItem | None:
        """The SELECT item that a name refers to by its alias; None if it refers to a source's column."""
        item = self.resolver.items.get(id(self.scope), {}).get(column.name)
        clause = clause_of(column)
        if item is None or (self.prefers_output and not column.table and clause != "order"):
            return item
        rules = self.resolver.context.rules
        if clause is None or clause not in rules.allowed or clause in rules.first:
            return item if clause in rules.first else None
        is_there = self._is_source_column(column.name)
        # If a table's columns are unknown: the source's column exists if the item itself is computed from that name.
        return None if is_there or (is_there is None and column.name in item.names) else item

    def _is_source_column(self, name: str) -> bool | None:
        found = [self.resolver.has(ref, name) for ref in _column_sources(self.scope)]
        return True if True in found else None if None in found else False

    def _sources_with(self, name: str) -> list[_SourceRef]:
        """All sources that an unqualified column may belong to: sqlglot leaves some unqualified."""
        scope: Scope | None = self.scope
        while scope is not None:
            for refs in (_column_sources(scope), [*_all_sources(scope)]):
                known = [(ref, self.resolver.has(ref, name)) for ref in refs]
                found = [ref for ref, has in known if has] or [ref for ref, has in known if has is None]
                if found:
                    return found
            scope = scope.parent
        return []

    def _of_pivoted(self, pivots: Sequence[exp.Pivot], source: exp.Table | Scope, name: str) -> Inputs:
        """UNPIVOT's columns are computed from all columns that it names; PIVOT's from all that it aggregates."""
        pivot, new = pivots[0], pivots[0].output_columns(())
        if len(pivots) > 1:
            self.is_incomplete = True
            return NOTHING
        if name not in new and name in pivot.output_columns((name,)):
            return self._of_source(source, name)
        self.is_incomplete |= name not in new
        if pivot.unpivot and name in (field.this.name for field in pivot.fields):
            return NOTHING
        value, chosen = Transformation("DIRECT", "TRANSFORMATION"), Transformation("INDIRECT", "CONDITIONAL")
        turned = [(each, value if pivot.unpivot else chosen) for each in pivot.fields]
        aggregates = [] if pivot.unpivot else [(each, value) for each in pivot.expressions]
        uses = [use for each, how in (*turned, *aggregates) for use in column_uses(each, how, {})]
        columns = (used_as(self._of_source(source, column.name), how) for column, how in uses)
        return frozenset[Input]().union(*columns)

    def rows_of_pivot(self, ref: _SourceRef) -> Inputs:
        """UNPIVOT drops nulls; PIVOT groups by all columns that it does not name."""
        pivots = ref.node.args.get("pivots")
        if not pivots or pivots[0].args.get("include_nulls"):
            return NOTHING
        pivot, group, columns = pivots[0], pivots[0].args.get("group"), self._columns(ref.source)
        named = {column.name.lower() for column in (group or pivot).find_all(exp.Column)}
        is_by_others = group is None and not pivot.unpivot
        decide = (inputs for name, inputs in columns.items() if (name.lower() in named) is not is_by_others)
        how = Transformation("INDIRECT", "FILTER" if pivot.unpivot else "GROUP_BY")
        return used_as(frozenset[Input]().union(*decide), how)

    def _transformed(self, inputs: Iterable[Inputs]) -> Inputs:
        return used_as(frozenset[Input]().union(*inputs), Transformation("DIRECT", "TRANSFORMATION"))

    def _of_subquery(self, query: exp.Expr, how: Transformation) -> Inputs:
        """A scalar subquery: the inputs of its value, and those of its rows as conditions."""
        inner = query.unnest() if isinstance(query, exp.Subquery) else query
        scope = next((each for each in self.scope.subquery_scopes if each.expression is inner), None)
        if scope is None:
            self.is_incomplete = True
            return NOTHING
        lineage = self.resolver.of(scope)
        self.is_incomplete |= bool(lineage.gaps)
        self.rows |= lineage.rows
        value = NOTHING if isinstance(query.parent, exp.Exists) else lineage.all_inputs
        return used_as(value, how) | used_as(lineage.rows, Transformation("INDIRECT", "CONDITIONAL"))


def _is_recursive(scope: Scope) -> bool:
    common = scope.expression.find_ancestor(exp.CTE)
    clause = None if common is None or common.this is not scope.expression else common.parent
    return clause is not None and bool(clause.args.get("recursive"))


def _names(item: exp.Expr, at: int) -> Sequence[str]:
    """The output names of an item: several for `stack(2, 1, 2) AS (a, b)`."""
    if isinstance(item, exp.Aliases):
        return [alias.name for alias in item.aliases]
    return [item.alias_or_name or f"_col{at}"]


def _unqualified_names(item: exp.Expr) -> frozenset[str]:
    return frozenset(column.name for column in item.find_all(exp.Column) if clause_of(column) is not None)


def _unwrapped(source: Scope) -> Scope:
    """The query inside LATERAL; any other source unchanged."""
    is_lateral = isinstance(source.expression, exp.Lateral) and source.subquery_scopes
    return source.subquery_scopes[0] if is_lateral else source


def _inner_name(source: Scope, lineage: QueryLineage, name: str) -> str:
    """The name in a recursive query of a column that `WITH t (a, b) AS …` renames."""
    common = source.expression.find_ancestor(exp.CTE)
    if name in lineage.columns or common is None or name not in common.alias_column_names:
        return name
    at = common.alias_column_names.index(name)
    return lineage.outputs[at].name if at < len(lineage.outputs) else name


def _unnest_operands(rows: exp.Expr, name: str) -> list[exp.Expr] | None:
    """The operands of UNNEST for a column; None if it may be any: maps and rows expand to several columns."""
    if not isinstance(rows, exp.Unnest):
        return None
    number = rows.args.get("offset")
    if isinstance(number, exp.Expr) and number.name == name:
        return []
    names = rows.alias_column_names
    return [rows.expressions[names.index(name)]] if len(names) == len(rows.expressions) and name in names else None


def _named_windows(scope: Scope) -> dict[str, exp.Expr]:
    return {window.name: window for window in scope.expression.args.get("windows") or ()}


def _column_sources(scope: Scope) -> list[_SourceRef]:
    """The sources that columns may come from; not those of SEMI and ANTI joins."""
    return [_SourceRef(node, source) for node, source in scope.selected_sources.values()]


def _all_sources(scope: Scope) -> Iterator[_SourceRef]:
    """All sources in FROM and JOIN, including those of SEMI and ANTI joins."""
    return (_SourceRef(node, scope.sources[name]) for name, node in scope.references if name in scope.sources)


def _source_named(scope: Scope | None, name: str) -> _SourceRef | None:
    """The source that a qualifier names, in this query or an enclosing one."""
    while scope is not None:
        for alias, node in scope.references:
            is_meant = name == alias or any(name == pivot.alias for pivot in node.args.get("pivots") or ())
            if is_meant and alias in scope.sources:
                return _SourceRef(node, scope.sources[alias])
        scope = scope.parent
    return None
