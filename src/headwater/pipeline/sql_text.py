"""What can be said of Spark SQL without Spark. sqlglot does not know all of its syntax, so no answer is a verdict."""

import logging
from collections.abc import Iterator
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.scope import Scope, build_scope, traverse_scope

logging.getLogger("sqlglot").setLevel(
    logging.ERROR
)  # it warns of every statement it takes as opaque; callers ask for it

_STATEMENTS_THAT_WRITE = (exp.DDL, exp.DML, exp.Drop, exp.Alter, exp.TruncateTable)
TableParts = tuple[str, ...]
"""A table as a query names it: `("orders",)` or `("lake", "sales", "orders")`."""

_NOT_DETERMINISTIC = frozenset(
    {"current_date", "current_timestamp", "localtimestamp", "now", "uuid", "monotonically_increasing_id"}
    | {"rand", "randn", "random", "shuffle"}
)


class UnreadableSqlError(Exception):
    """sqlglot cannot read it; `line` counts from 1 within the SQL."""

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
        raise UnreadableSqlError("it does not read as one query")
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
        raise UnreadableSqlError("it does not read as one expression")
    return query.selects[0]


@lru_cache(maxsize=512)
def parsed_schema(ddl: str) -> exp.Expr:
    """Columns with their types, such as `order_id BIGINT, price DECIMAL(10,2)`.

    Raises:
        UnreadableSqlError: sqlglot cannot read it, or does not know a type.
    """
    statements = _statements(f"CREATE TABLE t ({ddl})")
    if len(statements) != 1 or not isinstance(statements[0], exp.Create):
        raise UnreadableSqlError("it does not read as columns with types")
    return statements[0]


def does_more_than_query(sql: str) -> bool:
    """Whether the text surely changes tables, or is several statements."""
    try:
        statements = _statements(sql)
    except UnreadableSqlError:
        return False
    return len(statements) > 1 or any(isinstance(statement, _STATEMENTS_THAT_WRITE) for statement in statements)


def tables(query: exp.Query) -> frozenset[TableParts]:
    """Every table that a query names, in subqueries too; not its own common table expressions."""
    sources = (source for scope in _scopes(query) for source in scope.sources.values())
    return frozenset(_parts(source) for source in sources if isinstance(source, exp.Table) and source.name)


def starred_tables(query: exp.Query) -> frozenset[TableParts]:
    """The tables whose columns come through to the result by `*`, whatever they are."""
    scope = build_scope(query)
    return frozenset(_starred(scope, set())) if scope else frozenset()


def joins_without_condition(sql: str) -> bool:
    """Whether tables are joined without ON, USING or a WHERE beside them, and nobody wrote CROSS JOIN."""
    said = any(token.text.upper() == "CROSS" for token in sqlglot.tokenize(sql, dialect="spark"))
    return not said and any(_is_open(join) for join in parsed_query(sql).find_all(exp.Join))


def limits_without_order(query: exp.Query) -> bool:
    """Whether LIMIT or OFFSET picks rows where no ORDER BY says which."""
    picks = (part for part in query.find_all(exp.Query) if part.args.get("limit") or part.args.get("offset"))
    return any(not part.args.get("order") for part in picks)


def groups_rows(query: exp.Query) -> bool:
    """Whether a GROUP BY, DISTINCT or window is there, which may make rows unique."""
    return query.find(exp.Group, exp.Distinct, exp.Window) is not None


def columns_named(query: exp.Query, name: str) -> Iterator[exp.Expr]:
    """The expressions that give a column its value, at any depth."""
    for select in query.find_all(exp.Select):
        yield from (each for each in select.selects if each.alias_or_name.lower() == name.lower())


def is_deterministic(expression: exp.Expr) -> bool:
    """Whether the same row gives the same value in every run, as far as the functions are known."""
    return not any(_function_name(call) in _NOT_DETERMINISTIC for call in expression.find_all(exp.Func))


def _statements(sql: str) -> list[exp.Expr]:
    try:
        parsed = sqlglot.parse(sql, dialect="spark")
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        near = f" near {first['highlight']!r}" if first.get("highlight") else ""
        raise UnreadableSqlError(f"unknown syntax{near}", int(first.get("line") or 1)) from error
    except (SqlglotError, RecursionError) as error:
        raise UnreadableSqlError("unknown syntax, or nested too deep") from error
    return [statement for statement in parsed if statement is not None and not isinstance(statement, exp.Semicolon)]


def _scopes(query: exp.Query) -> list[Scope]:
    try:
        return traverse_scope(query)
    except (SqlglotError, RecursionError) as error:
        raise UnreadableSqlError("its names cannot be told apart, or it is nested too deep") from error


def _starred(scope: Scope, seen: set[int]) -> Iterator[TableParts]:
    if id(scope) in seen:  # a recursive common table expression names itself
        return
    seen.add(id(scope))
    for part in scope.set_operation_scopes:
        yield from _starred(part, seen)
    for name in _starred_sources(scope):
        match scope.sources.get(name):
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


def _is_open(join: exp.Join) -> bool:
    condition = join.args.get("on")
    conditioned = join.args.get("using") or join.method or (condition and not isinstance(condition, exp.Boolean))
    select = join.parent_select
    return not (conditioned or isinstance(join.this, exp.Lateral | exp.Unnest) or (select and select.args.get("where")))


def _parts(table: exp.Table) -> TableParts:
    return tuple(part.name for part in table.parts)


def _function_name(call: exp.Func) -> str:
    return (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
