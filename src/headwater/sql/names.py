"""Resolution of unqualified names: to a column of a source or, in some clauses, to a column alias of the SELECT list.

After sqlglot has qualified a query, it no longer shows which names were unqualified, where stars were, and what was
referenced by position. So `mark` records this first, in the tree itself.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import walk_in_scope

Clause = Literal["item", "where", "group", "having", "qualify", "order"]
"""The clause that a name is in; `item` is the SELECT list, where an alias is lateral. All dialects resolve aliases in
ORDER BY and DISTINCT ON; `order` is a name inside an expression there, which may mean a source's column first."""

_CLAUSE: Final = "headwater_clause"
_STARS: Final = "headwater_stars"
_RENAMED: Final = "headwater_renamed"
_USING: Final = "headwater_using"
_ORDINALS: Final = "headwater_places"
_GROUPINGS: Final = (exp.Group, exp.Tuple, exp.Paren, exp.Rollup, exp.Cube, exp.GroupingSets)


_NAMED_BY_POSITION: Final = frozenset({"athena", "presto", "trino"})
"""Dialects that name unnamed columns by position, with other names than sqlglot gives them."""


class AliasRules(NamedTuple):
    """The clauses where a dialect allows column aliases; `first`: where an alias hides a source's column."""

    allowed: frozenset[Clause]
    first: frozenset[Clause] = frozenset(["order"])


_ORDER: Final = frozenset[Clause](["order"])
_NOWHERE: Final = AliasRules(frozenset())
_ANYWHERE: Final = frozenset[Clause](["item", "where", "group", "having", "qualify"])
_GROUPED: Final = frozenset[Clause](["group", "having", "qualify"])
_MYSQL: Final = AliasRules(frozenset(["group", "having"]), frozenset(["having", "order"]))
_RULES: Final = {
    "bigquery": AliasRules(_GROUPED, _GROUPED | _ORDER),
    "clickhouse": AliasRules(_ANYWHERE, _ANYWHERE | _ORDER),
    "databricks": AliasRules(_GROUPED | {"item"}),
    "doris": _MYSQL,
    "duckdb": AliasRules(_ANYWHERE | _ORDER, frozenset(["having"])),
    "mysql": _MYSQL,
    "postgres": AliasRules(frozenset(["group"]), frozenset()),
    "redshift": AliasRules(_GROUPED | {"item"}),
    "singlestore": _MYSQL,
    "snowflake": AliasRules(_ANYWHERE),
    "spark": AliasRules(_GROUPED | {"item"}),
    "spark2": AliasRules(frozenset(["group", "having"])),
    "sqlite": AliasRules(frozenset(["where", "group", "having"])),
    "starrocks": _MYSQL,
    "teradata": AliasRules(_ANYWHERE),
}
"""Other dialects, such as Trino, allow none. In HAVING a grouping column comes before an alias.

Sources: PostgreSQL, `SELECT`, "GROUP BY Clause" and "ORDER BY Clause"; MySQL, "SELECT Statement"; Snowflake,
"GROUP BY", usage notes; Redshift, "SELECT list"; BigQuery and ClickHouse, sqlglot's
`Dialect.FORCE_EARLY_ALIAS_REF_EXPANSION`; Spark, SPARK-27561 and SPARK-31519; DuckDB 1.x as measured.
"""


def alias_rules(dialect: str) -> AliasRules:
    """The rules of a dialect, by sqlglot's name of it."""
    return _RULES.get(dialect.lower(), _NOWHERE)


def name_by_position(query: exp.Expr, dialect: str) -> None:
    """Name unnamed columns by position as Trino does, `_col1` for the second: all but plain columns.

    Columns after a star are skipped, since their position depends on its width.
    """
    if dialect.lower() not in _NAMED_BY_POSITION:
        return
    for select in query.find_all(exp.Select):
        for at, item in enumerate(select.expressions):
            if item.is_star:
                break
            if not item.alias and not isinstance(item.unnest(), exp.Column | exp.Dot | exp.Aliases):
                item.replace(exp.alias_(item.copy(), f"_col{at}", quoted=True))


def drop_positions_in_stars(query: exp.Expr, unknown: Container[str]) -> None:
    """Drop positions next to a star over a table of unknown columns from GROUP BY and ORDER BY: sqlglot refuses them.

    What they stand for is unknown, and the star is a gap anyway.
    """
    for select in query.find_all(exp.Select):
        sources = (select.args.get("from_"), *(select.args.get("joins") or ()))
        tables = [source.this for source in sources if source is not None and isinstance(source.this, exp.Table)]
        if not any(item.is_star for item in select.expressions) or not any(each.name in unknown for each in tables):
            continue
        for name in ("group", "order"):
            if (clause := select.args.get(name)) is not None and any(map(_is_position, clause.expressions)):
                clause.set("expressions", [each for each in clause.expressions if not _is_position(each)])
                select.set(name, clause if clause.expressions else None)


def _is_position(item: exp.Expr) -> bool:
    number = item.this if isinstance(item, exp.Ordered) else item
    return isinstance(number, exp.Literal) and bool(number.is_int)


def rename_in_subqueries(query: exp.Expr) -> None:
    """Rewrite `FROM t AS u (a, b)` to `FROM (SELECT * FROM t) AS u (a, b)`, which sqlglot can resolve."""
    for table in [*query.find_all(exp.Table)]:
        if table.alias_column_names and isinstance(table.this, exp.Identifier) and not table.args.get("pivots"):
            renamed = exp.Subquery(alias=table.args["alias"], joins=table.args.get("joins"))
            table.replace(renamed)
            table.set("alias", exp.TableAlias(this=table.args["alias"].this.copy()))
            table.set("joins", None)
            renamed.set("this", exp.select("*").from_(table, copy=False))


def mark(query: exp.Expr) -> None:
    """Record in the tree the syntax that qualification removes."""
    for select in query.find_all(exp.Select):
        if stars := [item.text("table") for item in select.expressions if item.is_star]:
            select.meta[_STARS] = stars
            using = (name.name for join in select.args.get("joins") or () for name in join.args.get("using") or ())
            select.meta[_USING] = Counter(using)
        for clause, column in _unqualified_names(select):
            column.meta[_CLAUSE] = clause
    for by in query.find_all(exp.Group, exp.Order):
        items = (item.this if isinstance(item, exp.Ordered) else item for item in by.expressions)
        if any(isinstance(item, exp.Literal) for item in items):
            by.meta[_ORDINALS] = True
    for named in query.find_all(exp.CTE, exp.Subquery):
        if named.alias_column_names:
            for select in _branches(named.this):
                select.meta[_RENAMED] = True


def clause_of(column: exp.Column) -> Clause | None:
    """The clause recorded for an unqualified name; None for others."""
    clause: Clause | None = column.meta_get(_CLAUSE)
    return clause


def stars_of(select: exp.Expr) -> Sequence[str]:
    """The qualifiers of a query's stars; the empty string for an unqualified star."""
    stars: Sequence[str] = select.meta_get(_STARS) or ()
    return stars


def using_counts(select: exp.Expr) -> Mapping[str, int]:
    """The number of joins with each column in USING, in a query with a star."""
    using: Mapping[str, int] = select.meta_get(_USING) or {}
    return using


def is_renamed(select: exp.Expr) -> bool:
    """Whether the query's columns are renamed by position: `WITH t (a, b) AS …`."""
    return bool(select.meta_get(_RENAMED))


def has_ordinals(clause: exp.Expr) -> bool:
    """Whether a GROUP BY or ORDER BY refers to columns by position."""
    return bool(clause.meta_get(_ORDINALS))


def _unqualified_names(select: exp.Select) -> Iterator[tuple[Clause, exp.Column]]:
    """Names that may be aliases, by clause: in GROUP BY only plain names, in HAVING none inside an aggregate."""
    for item in select.expressions:
        yield from (("item", column) for column in _columns(item))
    filters: Sequence[Clause] = ("where", "qualify")
    for clause in filters:
        yield from ((clause, column) for column in _columns(select.args.get(clause)))
    grouped = [each for each in _columns(select.args.get("group")) if isinstance(each.parent, _GROUPINGS)]
    yield from (("group", column) for column in grouped)
    names = {column.name for column in grouped}
    for column in _columns(select.args.get("having")):
        if not isinstance(column.find_ancestor(exp.AggFunc, exp.Having), exp.AggFunc):
            yield "group" if column.name in names else "having", column
    for sorts in (select.args.get("order"), select.args.get("distinct")):
        inside = (column for column in _columns(sorts) if not isinstance(column.parent, exp.Ordered | exp.Tuple))
        yield from (("order", column) for column in inside)


def _columns(tree: exp.Expr | None) -> Iterator[exp.Column]:
    for node in () if tree is None else walk_in_scope(tree):
        if isinstance(node, exp.Column) and not node.table and not node.is_star:
            yield node


def _branches(query: exp.Expr) -> Iterator[exp.Select]:
    waiting = [query]
    while waiting:
        at = waiting.pop()
        if isinstance(at, exp.Subquery):
            waiting.append(at.this)
        elif isinstance(at, exp.SetOperation):
            waiting.extend((at.this, at.expression))
        elif isinstance(at, exp.Select):
            yield at
