"""Flat table names, which sqlglot's schemas require, and column names in the statement's spelling."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

Parts = tuple[str, ...]
"""A table as a statement names it: `("orders",)` or `("lake", "sales", "orders")`."""

_WRITING: Final = (exp.Insert, exp.Create, exp.Update, exp.Merge, exp.Delete)
_RECURSIVE_WITHOUT_KEYWORD: Final = frozenset({"oracle", "snowflake", "teradata", "tsql", "fabric"})
"""Dialects in which common tables may be recursive without RECURSIVE, in a set operation."""

_IN_TABLES: Final = frozenset({"clickhouse", "sqlite"})
"""Dialects in which a name after IN is a table's: `supplier IN preferred`."""


def unused_prefix(words: Iterable[str]) -> str:
    """A prefix for flat names that cannot clash with a word in the text: `t`, or `t_` if the text has `t0`, `t1` …."""
    text = "\n".join(words).lower()
    prefix = "t"
    while re.search(rf"{prefix}\d", text):
        prefix += "_"
    return prefix


def flattened(tree: exp.Expr, dialect: str, prefix: str) -> dict[str, Parts]:
    """Give each table a one-part name and shorten column qualifiers to match. Returns the original names."""
    tables: dict[str, Parts] = {}
    query_tables_after_in(tree, dialect)
    for common in tree.find_all(exp.CTE):
        if isinstance(common.parent, exp.With) and _may_be_recursive(common.parent, common, dialect):
            common.parent.set("recursive", True)  # sqlglot needs the keyword
    outside = [table for table in tree.find_all(exp.Table) if not is_local_name(table, dialect)]
    # Collected before any is changed: a flattened name no longer shows the original.
    named = [(table, parts) for table in outside if (parts := _parts(table)) is not None]
    last_names = Counter(parts[-1] for parts in {parts for table, parts in named if not table.alias})
    by_own_name: list[tuple[exp.Table, Parts]] = []
    for at, (table, parts) in enumerate(named):
        flat = next((name for name, known in tables.items() if known == parts), f"{prefix}{len(tables)}")
        tables[flat] = parts
        if not table.alias:
            is_pivoted = any(pivot.alias for pivot in table.args.get("pivots") or ())  # the only valid name then
            own = parts[-1] if last_names[parts[-1]] == 1 else flat  # `a.orders` and `b.orders` need different ones
            name = f"{flat}_{at}" if is_pivoted else own
            table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
            by_own_name.append((table, parts))
        table.set("this", exp.to_identifier(flat, quoted=True))  # else a dialect might fold it
        table.set("db", None)
        table.set("catalog", None)
    for column in tree.find_all(exp.Column):
        _requalify(column, by_own_name)
    return tables


def _parts(table: exp.Table) -> Parts | None:
    """The table's name; None if it is incomplete, or a function."""
    if not all(isinstance(part, exp.Identifier) and part.name for part in table.parts):
        return None
    return tuple(part.name for part in table.parts) or None


def query_tables_after_in(tree: exp.Expr, dialect: str) -> None:
    """Rewrite `supplier IN preferred` to `supplier IN (SELECT * FROM preferred)`, if the dialect means that.

    Names of values, such as those of `WITH [1, 2] AS preferred`, stay.
    """
    if dialect not in _IN_TABLES:
        return
    values = {alias.alias for alias in tree.find_all(exp.Alias)}
    values |= {common.alias for common in tree.find_all(exp.CTE) if common.args.get("scalar")}
    relations = {table.alias_or_name for table in tree.find_all(exp.Table)}
    for condition in [*tree.find_all(exp.In)]:
        match condition.args.get("field"):
            case exp.Column(this=exp.Identifier() as name) as column:
                is_value = column.table in relations if column.table else name.name in values
                if not is_value:
                    table = exp.Table(this=name, db=column.args.get("table"), catalog=column.args.get("db"))
                    condition.set("field", None)
                    condition.set("query", exp.Subquery(this=exp.select("*").from_(table)))


def is_local_name(table: exp.Table, dialect: str) -> bool:
    """Whether the name refers to a common table in scope, or to a function of the query; never for a write target."""
    if isinstance(table.parent, exp.UserDefinedFunction):
        return True
    if len(table.parts) != 1 or _is_write_target(table):
        return False
    below: exp.Expr = table
    while (at := below.parent) is not None:
        if table.name in _common_tables(at, below, dialect):
            return True
        below = at
    return False


def _common_tables(at: exp.Expr, below: exp.Expr, dialect: str) -> set[str]:
    """The common tables declared at a node that are visible in the child `below`."""
    if isinstance(at, exp.With):
        itself = {below.alias} if _may_be_recursive(at, below, dialect) else set()
        return {each.alias for each in at.expressions[: below.index]} | itself
    clause = at.args.get("with_")
    return set() if clause is None or clause is below else {each.alias for each in clause.expressions}


def _is_write_target(table: exp.Table) -> bool:
    place = table.parent if isinstance(table.parent, exp.Schema) else table
    return isinstance(place.parent, _WRITING) and place.arg_key == "this"


def _may_be_recursive(clause: exp.With, common: exp.Expr, dialect: str) -> bool:
    """Whether a common table may refer to itself: only a set operation of an anchor and a recursive query may."""
    is_allowed = bool(clause.args.get("recursive")) or dialect in _RECURSIVE_WITHOUT_KEYWORD
    return is_allowed and isinstance(common.this.unnest(), exp.SetOperation)


def _requalify(column: exp.Column, tables: Sequence[tuple[exp.Table, Parts]]) -> None:
    """Qualify a column by the alias of the table that its qualifiers name: the one in the innermost query around it."""
    qualifiers = tuple(part.name for part in column.parts[:-1])
    meant = [table for table, parts in tables if qualifiers and parts[-len(qualifiers) :] == qualifiers]
    at: exp.Expr | None = column.parent if meant else None
    while at is not None:
        nearest = [table for table in meant if (table.parent_select or table.root()) is at]
        if len(nearest) == 1:
            column.set("table", nearest[0].args["alias"].this.copy())
            column.set("db", None)
            column.set("catalog", None)
        at = None if nearest else at.parent


def column_spelling(tree: exp.Expr, dialect: str) -> Callable[[str], str]:
    """Returns the function from a known column to its spelling in the statement.

    Folded like an unquoted identifier if only that form occurs in the statement.

    >>> [*map(column_spelling(exp.select("price", "qty"), "postgres"), ["orderId", "Price"])]
    ['orderId', 'price']
    """
    named = {identifier.name for identifier in tree.find_all(exp.Identifier)}
    fold = Dialect.get_or_raise(dialect).normalize_identifier

    @cache  # tables have many names in common
    def called(column: str) -> str:
        quoted, bare = (fold(exp.to_identifier(column, quoted=is_quoted)).name for is_quoted in (True, False))
        return bare if bare in named and quoted not in named else quoted

    return called
