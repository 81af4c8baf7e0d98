"""The tables that a query reads in its database, from its text."""

from collections.abc import Iterator

import sqlglot
from sqlglot import exp


def tables_of(query: str) -> Iterator[str]:
    """Every table that a query names, repeats included; none if the text cannot be parsed."""
    parsed = _parsed(query)
    if parsed is None:
        return
    named_inside = {cte.alias for cte in parsed.find_all(exp.CTE)}
    for table in parsed.find_all(exp.Table):
        parts = [part.sql() for part in table.parts]
        if parts and ".".join(parts) not in named_inside:
            yield ".".join(parts)


def only_picks(query: str) -> bool:
    """Whether a query only selects columns and rows of one table, so that its columns are the table's."""
    parsed = _parsed(query)
    return (
        isinstance(parsed, exp.Select)
        and len(list(parsed.find_all(exp.Table))) == 1
        and parsed.find(exp.Subquery) is None
        and all(isinstance(column, exp.Star | exp.Column) for column in parsed.expressions)
    )


def _parsed(query: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(query)
    except sqlglot.errors.SqlglotError:
        return None
