"""Resolves unqualified names: a column of a source, or one of the answer, which some clauses may name too.

After sqlglot has qualified a query, it no longer shows which names were unqualified, where stars were, and what was
referenced by position. So `mark` records this first, in the tree itself.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import walk_in_scope

Clause = Literal["item", "where", "group", "having", "qualify", "order"]
"""Where a name stands. In ORDER BY and DISTINCT ON all dialects know names of the answer; `order` is a name within an
expression there, where some mean a column first."""

_CLAUSE: Final = "headwater_clause"
_STARS: Final = "headwater_stars"
_RENAMED: Final = "headwater_renamed"
_USING: Final = "headwater_using"
_PLACES: Final = "headwater_places"
_GROUPINGS: Final = (exp.Group, exp.Tuple, exp.Paren, exp.Rollup, exp.Cube, exp.GroupingSets)


_BY_PLACE: Final = frozenset({"athena", "presto", "trino"})
"""Dialects that name unnamed columns by position; sqlglot's own names for them differ."""


class Rules(NamedTuple):
    """Where a dialect allows names of the answer; `first`: where these hide a source's column of that name."""

    allowed: frozenset[Clause]
    first: frozenset[Clause] = frozenset(["order"])


_ORDER: Final = frozenset[Clause](["order"])
_NOWHERE: Final = Rules(frozenset())
_ANYWHERE: Final = frozenset[Clause](["item", "where", "group", "having", "qualify"])
_GROUPED: Final = frozenset[Clause](["group", "having", "qualify"])
_MYSQL: Final = Rules(frozenset(["group", "having"]), frozenset(["having", "order"]))
_RULES: Final = {
    "bigquery": Rules(_GROUPED, _GROUPED | _ORDER),
    "clickhouse": Rules(_ANYWHERE, _ANYWHERE | _ORDER),
    "databricks": Rules(_GROUPED | {"item"}),
    "doris": _MYSQL,
    "duckdb": Rules(_ANYWHERE | _ORDER, frozenset(["having"])),
    "mysql": _MYSQL,
    "postgres": Rules(frozenset(["group"]), frozenset()),
    "redshift": Rules(_GROUPED | {"item"}),
    "singlestore": _MYSQL,
    "snowflake": Rules(_ANYWHERE),
    "spark": Rules(_GROUPED | {"item"}),
    "spark2": Rules(frozenset(["group", "having"])),
    "sqlite": Rules(frozenset(["where", "group", "having"])),
    "starrocks": _MYSQL,
    "teradata": Rules(_ANYWHERE),
}
"""Of the others, such as Trino, none. In HAVING a column that is grouped by comes before the answer's.

Sources: PostgreSQL, `SELECT`, "GROUP BY Clause" and "ORDER BY Clause"; MySQL, "SELECT Statement"; Snowflake,
"GROUP BY", usage notes; Redshift, "SELECT list"; BigQuery and ClickHouse, sqlglot's
`Dialect.FORCE_EARLY_ALIAS_REF_EXPANSION`; Spark, SPARK-27561 and SPARK-31519; DuckDB 1.x as it answers.
"""


def rules_of(dialect: str) -> Rules:
    """The rules of a dialect, by sqlglot's name for it."""
    return _RULES.get(dialect.lower(), _NOWHERE)


def name_by_place(query: exp.Expr, dialect: str) -> None:
    """Name unnamed columns by position as Trino does, `_col1` for the second: all but plain columns.

    Columns after a star are skipped, since their position depends on its width.
    """
    if dialect.lower() not in _BY_PLACE:
        return
    for select in query.find_all(exp.Select):
        for at, item in enumerate(select.expressions):
            if item.is_star:
                break
            if not item.alias and not isinstance(item.unnest(), exp.Column | exp.Dot | exp.Aliases):
                item.replace(exp.alias_(item.copy(), f"_col{at}", quoted=True))


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
    """Record in the tree what qualification hides."""
    for select in query.find_all(exp.Select):
        if stars := [item.text("table") for item in select.expressions if item.is_star]:
            select.meta[_STARS] = stars
            using = (name.name for join in select.args.get("joins") or () for name in join.args.get("using") or ())
            select.meta[_USING] = Counter(using)
        for clause, column in _alone(select):
            column.meta[_CLAUSE] = clause
    for by in query.find_all(exp.Group, exp.Order):
        items = (item.this if isinstance(item, exp.Ordered) else item for item in by.expressions)
        if any(isinstance(item, exp.Literal) for item in items):
            by.meta[_PLACES] = True
    for named in query.find_all(exp.CTE, exp.Subquery):
        if named.alias_column_names:
            for select in _arms(named.this):
                select.meta[_RENAMED] = True


def clause_of(column: exp.Column) -> Clause | None:
    """The clause that consists of just this name; None if none does."""
    clause: Clause | None = column.meta_get(_CLAUSE)
    return clause


def stars_of(select: exp.Expr) -> Sequence[str]:
    """The qualifiers of a query's stars; empty for an unqualified one."""
    stars: Sequence[str] = select.meta_get(_STARS) or ()
    return stars


def used_by(select: exp.Expr) -> Mapping[str, int]:
    """How many joins compare each column by USING, in a query with a star."""
    using: Mapping[str, int] = select.meta_get(_USING) or {}
    return using


def is_renamed(select: exp.Expr) -> bool:
    """Whether its columns are renamed by position: `WITH t (a, b) AS …`."""
    return bool(select.meta_get(_RENAMED))


def has_places(clause: exp.Expr) -> bool:
    """Whether a GROUP BY or ORDER BY refers to columns by position."""
    return bool(clause.meta_get(_PLACES))


def _alone(select: exp.Select) -> Iterator[tuple[Clause, exp.Column]]:
    """Plain names by clause: GROUP BY means the answer's only for these; HAVING aggregates before the answer exists."""
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


def _arms(query: exp.Expr) -> Iterator[exp.Select]:
    waiting = [query]
    while waiting:
        at = waiting.pop()
        if isinstance(at, exp.Subquery):
            waiting.append(at.this)
        elif isinstance(at, exp.SetOperation):
            waiting.extend((at.this, at.expression))
        elif isinstance(at, exp.Select):
            yield at
