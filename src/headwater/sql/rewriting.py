"""Rewrites DML and CREATE … AS as queries whose columns are those written, so that query lineage applies."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from sqlglot import exp

from headwater.sql.reading import UnreadableSqlError

NO_COLUMN: Final = "\0"
"""The placeholder column of a query for a part that writes no columns, such as a MERGE's DELETE."""

_LAST_CLAUSES: Final = ("order", "limit", "offset")
_INNER: Final = exp.to_identifier("\0inner", quoted=True)

Known = Callable[[str], Sequence[str]]

StatementKind = Literal["select", "insert", "create", "update", "merge", "delete"]


class Rewritten(NamedTuple):
    """A statement as queries.

    Attributes:
        target: the table written, by its flat name; None for a query.
        names: the columns written, in order, if the statement lists them.
        is_by_position: whether the query's columns are matched to the target's by position.
    """

    kind: StatementKind
    target: str | None
    queries: tuple[exp.Query, ...]
    names: tuple[str, ...] = ()
    is_by_position: bool = False


def rewritten(tree: exp.Expr, known: Known) -> Rewritten:
    """The queries that read what the statement reads, with an output column for each column that it writes.

    `known` returns a table's columns by its flat name, for a MERGE whose INSERT lists none.

    Raises:
        UnreadableSqlError: the kind of statement, or a clause in it, is not supported.
    """
    if tree.find(exp.MatchRecognize) is not None:
        raise UnreadableSqlError("MATCH_RECOGNIZE is not supported")
    if any(conflict.expressions for conflict in tree.find_all(exp.OnConflict)):
        raise UnreadableSqlError("updates of existing rows (ON CONFLICT, ON DUPLICATE KEY) are not supported")
    if isinstance(tree, exp.Update | exp.Delete) and (tree.this.args.get("joins") or tree.args.get("tables")):
        raise UnreadableSqlError("an UPDATE or DELETE of several tables is not supported")
    tree = _with_inner_clauses(tree)
    match tree:
        case exp.Query() as query if (into := query.find(exp.Into)) is not None:
            return Rewritten("create", _target_name(into.this), (query,))
        case exp.Query() as query:
            return Rewritten("select", None, (_with(query, _bare(query)),))
        case exp.Insert(this=target, expression=exp.Query() as query):
            is_by_position = not tree.args.get("by_name")
            return Rewritten(
                "insert", _target_name(target), (_with(tree, _bare(query)),), _listed(target), is_by_position
            )
        case exp.Create(this=target, expression=exp.Query() as query):
            return Rewritten("create", _target_name(target), (_with(tree, _bare(query)),), _listed(target))
        case exp.Update(this=exp.Table() as target):
            return Rewritten("update", target.name, (_of_update(tree, target),))
        case exp.Merge(this=exp.Table() as target):
            return Rewritten("merge", target.name, tuple(_of_merge(tree, target, known)))
        case exp.Delete(this=exp.Table() as target):
            return Rewritten("delete", target.name, (_of_delete(tree, target),))
    raise UnreadableSqlError(
        f"statements of this kind ({type(tree).__name__}) are not supported, only queries and writes to a table"
    )


def _of_update(update: exp.Expr, target: exp.Table) -> exp.Query:
    query = exp.select(*(_assignment(each, target) for each in update.expressions)).from_(target.copy())
    if (source := update.args.get("from_")) is not None:
        query = query.join(source.this.copy(), join_type="cross")
    return _with(update, _where(query, update))


def _of_delete(delete: exp.Expr, target: exp.Table) -> exp.Query:
    query = exp.select("1").from_(target.copy())
    for source in delete.args.get("using") or ():
        query = query.join(source.copy(), join_type="cross")
    return _with(delete, _where(query, delete))


def _of_merge(merge: exp.Expr, target: exp.Table, known: Known) -> Iterator[exp.Query]:
    """One query for each WHEN, since each may assign another value to a column."""
    for when in merge.args["whens"].expressions:
        items = list(_assignments(when.args.get("then"), target, known(target.name))) or [
            exp.alias_(exp.Literal.number(1), NO_COLUMN, quoted=True)
        ]
        query = _of_when(when, merge, target).select(*items)
        if (condition := when.args.get("condition")) is not None:
            query = query.where(condition.copy())
        yield _with(merge, query)


def _of_when(when: exp.Expr, merge: exp.Expr, target: exp.Table) -> exp.Select:
    """A query of the sources of a WHEN's values: for unmatched rows, one side only."""
    sides = [target, merge.args["using"]]
    is_of_source = not when.args.get("matched") and not when.args.get("source")
    one, other = (side.copy() for side in (reversed(sides) if is_of_source else sides))
    return (
        exp.select()
        .from_(one)
        .join(other, on=merge.args["on"].copy(), join_type="" if when.args.get("matched") else "anti")
    )


def _assignments(then: exp.Expr | None, target: exp.Table, all_columns: Sequence[str]) -> Iterator[exp.Expr]:
    match then:
        case exp.Update():
            yield from (_assignment(each, target) for each in then.expressions)
        case exp.Insert(this=columns, expression=values) if values is not None:
            names = all_columns if columns is None else [column.name for column in columns.expressions]
            # BigQuery's `INSERT ROW` has no values: its columns are those of the source.
            if not isinstance(values, exp.Expr) or len(names) != len(values.expressions):
                raise UnreadableSqlError("the columns that its MERGE inserts are unknown")
            for name, value in zip(names, values.expressions, strict=True):
                yield exp.alias_(value.copy(), name, quoted=True)


def _assignment(assignment: exp.Expr, target: exp.Table) -> exp.Expr:
    column = assignment.this
    is_to_column = isinstance(assignment, exp.EQ) and isinstance(column, exp.Column)
    if not is_to_column or column.text("db") or column.table not in ("", target.alias):  # a field of a column
        raise UnreadableSqlError("an assignment in it is not of the form column = value")
    return exp.alias_(assignment.expression.copy(), column.name, quoted=True)


def _with_inner_clauses(tree: exp.Expr) -> exp.Expr:
    """The statement with the clauses of `(SELECT …) ORDER BY a` moved inside the parentheses, where scopes have them.

    If the query has such clauses itself, as `(SELECT … LIMIT 9) ORDER BY a`, they go around it: `SELECT * FROM (…)`.
    """
    changed = tree.copy()
    for outer in [*changed.find_all(exp.Subquery)]:
        clauses = {name: clause for name in _LAST_CLAUSES if (clause := outer.args.get(name)) is not None}
        inner = outer.unnest()
        if not clauses or not isinstance(inner, exp.Query):
            continue
        if any(inner.args.get(name) is not None for name in _LAST_CLAUSES):
            wrapped = exp.select("*").from_(exp.Subquery(this=inner.copy(), alias=exp.TableAlias(this=_INNER.copy())))
            inner.replace(wrapped)
            inner = wrapped
        for name, clause in clauses.items():
            inner.set(name, clause.pop())
    return changed


def _bare(query: exp.Query) -> exp.Query:
    """The query without enclosing parentheses."""
    inner = query.unnest() if isinstance(query, exp.Subquery) else query
    return inner if isinstance(inner, exp.Query) else query


def _where(query: exp.Select, statement: exp.Expr) -> exp.Select:
    where = statement.args.get("where")
    return query if where is None else query.where(where.this.copy())


def _with(statement: exp.Expr, query: exp.Query) -> exp.Query:
    """The query with the statement's common tables."""
    if (common := statement.args.get("with_")) is not None and query.args.get("with_") is None:
        query = query.copy()
        query.set("with_", common.copy())
    return query


def _target_name(target: exp.Expr) -> str:
    table = target.this if isinstance(target, exp.Schema) else target
    if not isinstance(table, exp.Table):
        raise UnreadableSqlError("its target is not a table")
    return table.name


def _listed(target: exp.Expr) -> tuple[str, ...]:
    return tuple(each.name for each in target.expressions) if isinstance(target, exp.Schema) else ()
