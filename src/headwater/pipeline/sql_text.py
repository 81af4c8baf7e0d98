"""Static analysis of Spark SQL without Spark. sqlglot does not know all of its syntax, so no answer is certain."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.scope import Scope, build_scope, traverse_scope

logging.getLogger("sqlglot").setLevel(
    logging.ERROR
)  # it warns about every statement that it cannot parse; callers check that themselves

_STATEMENTS_THAT_WRITE = (
    *(exp.DDL, exp.DML, exp.Drop, exp.Alter, exp.TruncateTable),
    *(exp.MultitableInserts, exp.LoadData),
)
_BEGIN_A_QUERY = frozenset({"(", "FROM", "MAP", "REDUCE", "SELECT", "TABLE", "VALUES", "WITH"})
"""First words of queries. All others begin a statement of which sqlglot may not know the form, such as `CALL`, `SET` or
`EXECUTE IMMEDIATE`.
"""
TableParts = tuple[str, ...]
"""A table's name in a query: `("orders",)` or `("lake", "sales", "orders")`."""

_NOT_DETERMINISTIC = frozenset(
    {"current_date", "current_timestamp", "localtimestamp", "now", "uuid", "monotonically_increasing_id"}
    | {"rand", "randn", "random", "shuffle"}
)


class UnreadableSqlError(Exception):
    """The SQL cannot be parsed by sqlglot; `line` counts from 1 within the SQL."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


@lru_cache(maxsize=512)
def parsed_query(sql: str) -> exp.Query:
    """One query.

    Raises:
        UnreadableSqlError: it is not one query, or sqlglot cannot read it.
    """
    statements = _statements(sql)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise UnreadableSqlError("not exactly one query")
    _fold_common_tables(statements[0])
    _scopes(statements[0])
    return statements[0]


@lru_cache(maxsize=512)
def parsed_expression(sql: str) -> exp.Expr:
    """One expression over columns, such as `price > 0`.

    Raises:
        UnreadableSqlError: sqlglot cannot read it as one.
    """
    query = parsed_query(f"SELECT {sql}")
    if not isinstance(query, exp.Select) or len(query.selects) != 1 or query.args.get("from_"):
        raise UnreadableSqlError("not exactly one expression")
    return query.selects[0]


@lru_cache(maxsize=512)
def parsed_schema(ddl: str) -> exp.Expr:
    """Columns with their types, such as `order_id BIGINT, price DECIMAL(10,2)`.

    Raises:
        UnreadableSqlError: sqlglot cannot read it, or does not know a type.
    """
    statements = _statements(f"CREATE TABLE t ({ddl})")
    if len(statements) != 1 or not isinstance(statements[0], exp.Create):
        raise UnreadableSqlError("not a list of columns with types")
    return statements[0]


def does_more_than_query(sql: str) -> bool:
    """Whether the text is certainly another statement than a query, or has several statements."""
    if (first := _first_word(sql)) and first not in _BEGIN_A_QUERY:
        return True
    try:
        statements = _statements(sql)
    except UnreadableSqlError:
        return False
    return len(statements) > 1 or any(isinstance(statement, _STATEMENTS_THAT_WRITE) for statement in statements)


def tables(query: exp.Query) -> Mapping[TableParts, int]:
    """Every table in a query and its subqueries, with the first line; without common table expressions."""
    sources = (source for scope in _scopes(query) for source in scope.sources.values())
    lines: defaultdict[TableParts, set[int]] = defaultdict(set)
    for source in sources:
        if isinstance(source, exp.Table) and source.name:
            lines[_parts(source)].add(_line(source))
    return {parts: min(found) for parts, found in lines.items()}


def starred_tables(query: exp.Query) -> frozenset[TableParts]:
    """The tables whose columns all reach the result by `*`."""
    scope = build_scope(query)
    return frozenset(_starred(scope, set())) if scope else frozenset()


def joins_without_condition(sql: str) -> frozenset[int]:
    """The lines of joins without ON, USING or a WHERE, that are not an explicit CROSS JOIN."""
    has_cross = any(token.text.upper() == "CROSS" for token in sqlglot.tokenize(sql, dialect="spark"))
    joins = () if has_cross else parsed_query(sql).find_all(exp.Join)
    return frozenset(_line(join) for join in joins if _is_open(join))


def limits_without_order(query: exp.Query) -> frozenset[int]:
    """The lines of LIMIT or OFFSET without ORDER BY, except within EXISTS, where the choice of rows does not matter."""
    picks = (
        (part, limit)
        for part in query.find_all(exp.Query)
        if (limit := part.args.get("limit") or part.args.get("offset")) and not _is_asked_for_rows(part)
    )
    return frozenset(_line(limit) for part, limit in picks if not part.args.get("order"))


def groups_rows(query: exp.Query) -> bool:
    """Whether the query has a GROUP BY, DISTINCT or window, which may make rows unique."""
    return query.find(exp.Group, exp.Distinct, exp.Window) is not None


def columns_named(query: exp.Query, name: str) -> Iterator[exp.Expr]:
    """The expressions of a column of that name, at any depth."""
    for select in query.find_all(exp.Select):
        yield from (each for each in select.selects if each.alias_or_name.lower() == name.lower())


def is_deterministic(expression: exp.Expr) -> bool:
    """Whether the same row gives the same value in every run, as far as its functions are known."""
    return not any(_function_name(call) in _NOT_DETERMINISTIC for call in expression.find_all(exp.Func))


def _statements(sql: str) -> list[exp.Expr]:
    try:
        parsed = sqlglot.parse(sql, dialect="spark")
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        near = f" near {first['highlight']!r}" if first.get("highlight") else ""
        raise UnreadableSqlError(f"unknown syntax{near}", int(first.get("line") or 1)) from error
    except (SqlglotError, RecursionError) as error:
        raise UnreadableSqlError("unknown syntax, or nested too deeply") from error
    return [statement for statement in parsed if statement is not None and not isinstance(statement, exp.Semicolon)]


def _first_word(sql: str) -> str:
    """In upper case, after comments; empty if there is none."""
    try:
        tokens = sqlglot.tokenize(sql, dialect="spark")
    except SqlglotError:
        return ""
    return tokens[0].text.upper() if tokens else ""


def _scopes(query: exp.Query) -> list[Scope]:
    try:
        return traverse_scope(query)
    except (SqlglotError, RecursionError) as error:
        raise UnreadableSqlError("its names are ambiguous, or it is nested too deeply") from error


def _starred(scope: Scope, seen: set[int]) -> Iterator[TableParts]:
    if id(scope) in seen:  # a recursive common table expression refers to itself
        return
    seen.add(id(scope))
    for part in scope.set_operation_scopes:
        yield from _starred(part, seen)
    sources = {name.lower(): source for name, source in scope.sources.items()}
    for name in _starred_sources(scope):
        match sources.get(name.lower()):
            case Scope() as inner:
                yield from _starred(inner, seen)
            case exp.Table() as table if table.name:
                yield _parts(table)


def _starred_sources(scope: Scope) -> Iterator[str]:
    if isinstance(scope.expression, exp.Subquery):
        yield from scope.sources
    for column in scope.expression.selects if isinstance(scope.expression, exp.Select) else ():
        if isinstance(column, exp.Star):
            yield from scope.sources
        elif isinstance(column, exp.Column) and column.is_star:
            yield column.table


def _fold_common_tables(query: exp.Query) -> None:
    """Lower-case the names of common tables, and references to them: Spark ignores case, sqlglot's scopes do not."""
    common = [cte.args["alias"].this for cte in query.find_all(exp.CTE) if cte.alias]
    inside = {name.name.lower() for name in common}
    named = (table.this for table in query.find_all(exp.Table) if len(table.parts) == 1)
    for name in (*common, *named):
        if isinstance(name, exp.Identifier) and name.name.lower() in inside:
            name.set("this", name.name.lower())


def _is_asked_for_rows(query: exp.Query) -> bool:
    asks = query.parent
    while isinstance(asks, exp.Subquery):
        asks = asks.parent
    return isinstance(asks, exp.Exists)


def _line(part: exp.Expr) -> int:
    """The line in which a part of a query begins, by the positions of its names and literals."""
    return min((node.meta["line"] for node in part.walk() if "line" in node.meta), default=1)


def _is_open(join: exp.Join) -> bool:
    condition = join.args.get("on")
    conditioned = join.args.get("using") or join.method or (condition and not isinstance(condition, exp.Boolean))
    select = join.parent_select
    return not (conditioned or isinstance(join.this, exp.Lateral | exp.Unnest) or (select and select.args.get("where")))


def _parts(table: exp.Table) -> TableParts:
    return tuple(part.name for part in table.parts)


def _function_name(call: exp.Func) -> str:
    return (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
