"""The tables that a query reads in its database, from its text."""

from functools import lru_cache
from typing import Final, NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from headwater.model.naming_jdbc import unwrapped
from headwater.sql.flat import is_local_name, query_tables_after_in
from headwater.sql.identifiers import has_unnamed_sources, location_of, name_identifiers
from headwater.sql.reading import dialect_named

_DIALECTS: Final = {
    **{"awsathena": "athena", "ch": "clickhouse", "exa": "exasol", "hive2": "hive", "impala": "hive"},
    **{"mariadb": "mysql", "memsql": "singlestore", "postgresql": "postgres", "sqlserver": "tsql"},
}
"""The dialects of databases to which sqlglot gives another name than JDBC."""


class DatabaseQuery(NamedTuple):
    """What the text of a query says of its sources; nothing if it cannot be parsed."""

    tables: tuple[str, ...] = ()
    """Every table of the database once that it names."""
    names_all_sources: bool = False
    """Whether `tables` has all that it reads; not if it reads more through a function such as OPENQUERY."""
    only_picks: bool = False
    """Whether it only selects columns and rows of one table, so that its columns are the table's."""


@lru_cache(maxsize=32)
def read_query(query: str, url: str) -> DatabaseQuery:
    """Read a query of the database at this JDBC URL."""
    dialect = _dialect_at(url)
    parsed = _parsed(query, dialect)
    if parsed is None:
        return DatabaseQuery()
    names_all_sources = not _reads_elsewhere(parsed, dialect)
    tables = _stored_in(parsed, dialect)
    only_picks = (
        isinstance(parsed, exp.Select)
        and len(tables) == len(list(parsed.find_all(exp.Table))) == 1
        and parsed.find(exp.Subquery, exp.Join, exp.Lateral, exp.Pivot) is None
        and all(map(_is_picked, parsed.expressions))
    )
    return DatabaseQuery(tuple(tables), names_all_sources, only_picks)


def is_of_database(table: str, url: str) -> bool:
    """Whether a name, as it would stand after FROM, is a table's of the database; not of a file or a linked server."""
    dialect = _dialect_at(url)
    parsed = _parsed(f"SELECT * FROM {table}", dialect)  # noqa: S608  (not run)
    return parsed is None or not _reads_elsewhere(parsed, dialect)


def _reads_elsewhere(parsed: exp.Expr, dialect: str) -> bool:
    return has_unnamed_sources(parsed) or any(_is_file(table, dialect) for table in parsed.find_all(exp.Table))


def _is_picked(item: exp.Expr) -> bool:
    """Whether it is a star, or a column by its name."""
    return isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier | exp.Star)
    )


def _stored_in(parsed: exp.Expr, dialect: str) -> list[str]:
    """Every table of the database once; changes the case of the query's names."""
    tables = [*parsed.find_all(exp.Table)]
    names = [_name(table, dialect) for table in tables]
    fold = dialect_named(dialect).normalize_identifier
    for identifier in parsed.find_all(exp.Identifier):  # so that a common table is found in any case
        fold(identifier)
    return [*dict.fromkeys(name for name, table in zip(names, tables, strict=True) if _is_stored(table, dialect))]


def _dialect_at(url: str) -> str:
    """The dialect, by sqlglot's name; empty for its own, if it does not know the database."""
    kind = unwrapped(url).partition(":")[2].partition(":")[0].lower()
    name = _DIALECTS.get(kind, kind)
    return name if name in Dialect.classes else ""


def _parsed(query: str, dialect: str) -> exp.Expr | None:
    try:
        parsed = sqlglot.parse_one(query, dialect=dialect)
        name_identifiers(parsed, dialect)
    except sqlglot.errors.SqlglotError:
        return None
    if isinstance(parsed, exp.Execute | exp.Command):
        return None
    query_tables_after_in(parsed, dialect)
    return parsed


def _name(table: exp.Table, dialect: str) -> str:
    """As in the query; with two dots where it leaves out the schema: `shop..orders`."""
    *holders, name = (part.sql(dialect=dialect) for part in table.parts)
    left_out = [""] if table.args.get("db") == "" else []
    return ".".join([*holders, *left_out, name])


def _is_stored(table: exp.Table, dialect: str) -> bool:
    """Whether it is a table of the database, not a function or a common table."""
    is_named = all(isinstance(part, exp.Identifier) for part in table.parts)
    return is_named and not is_local_name(table, dialect) and not _is_file(table, dialect)


def _is_file(table: exp.Table, dialect: str) -> bool:
    return location_of([part.name for part in table.parts], dialect) is not None
