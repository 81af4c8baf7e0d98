"""One statement out of a text: tables under flat names, within bounds that hold for any text.

The bounds are counts, not times, so that the same text always gives the same answer: the facts of an event hang on it.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.tokenizer_core import Token, TokenType

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what it takes as opaque; here that is a gap

Parts = tuple[str, ...]
"""A table as a statement names it: `("orders",)` or `("lake", "sales", "orders")`."""

MOST_CHARACTERS: Final = 20_000
MOST_TOKENS: Final = 4_000
"""Some 0.1 s of reading on one core; what dashboards ask is a tenth of it."""
DEEPEST: Final = 50
"""Levels of brackets and CASEs: sqlglot reads by recursion, which must not end with our stack's size."""

_OPENS: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSES: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_PREFIXES: Final = frozenset({TokenType.NOT, TokenType.DASH, TokenType.TILDE, TokenType.PLUS})


class UnreadableSqlError(Exception):
    """What is wrong with the text; never any of it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A statement whose tables are called `t0`, `t1` …, and what the statement itself calls them."""

    tree: exp.Expr
    tables: dict[str, Parts]


def parsed(text: str, dialect: str) -> Parsed:
    """The one statement of the text, identifiers without quotes folded as the dialect does.

    Raises:
        UnreadableSqlError: it is too long or too deep, is not one statement, or sqlglot does not know its syntax.
    """
    try:
        tree = _tree(text, Dialect.get_or_raise(dialect))
        normalize_identifiers(tree, dialect=dialect)
    except (SqlglotError, RecursionError) as fault:
        raise UnreadableSqlError(f"sqlglot cannot read it ({type(fault).__name__})") from None
    return Parsed(tree, _flattened(tree))


def _tree(text: str, dialect: Dialect) -> exp.Expr:
    if len(text) > MOST_CHARACTERS:
        raise UnreadableSqlError(f"it is longer than {MOST_CHARACTERS} characters")
    tokens = dialect.tokenize(text)
    if len(tokens) > MOST_TOKENS:
        raise UnreadableSqlError(f"it has more than {MOST_TOKENS} words")
    if _depth(tokens) > DEEPEST:
        raise UnreadableSqlError(f"it is nested deeper than {DEEPEST} levels")
    found = [tree for tree in dialect.parser().parse(tokens, text) if tree is not None]
    if len(found) != 1:
        raise UnreadableSqlError("it is not one statement")
    return found[0]


def _depth(tokens: Iterable[Token]) -> int:
    depth = deepest = prefixes = 0
    for token in tokens:
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        depth += (token.token_type in _OPENS) - (token.token_type in _CLOSES)
        deepest = max(deepest, depth + prefixes)
    return deepest


def _flattened(tree: exp.Expr) -> dict[str, Parts]:
    """Give each table a name of one part, which sqlglot's schemas need; columns lose the names before their table's."""
    inside = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables: dict[str, Parts] = {}
    for table in list(tree.find_all(exp.Table)):
        parts = tuple(part.name for part in table.parts)
        is_named_inside = len(parts) == 1 and parts[0] in inside
        if is_named_inside or not all(parts) or not isinstance(table.this, exp.Identifier):
            continue
        flat = next((name for name, known in tables.items() if known == parts), f"t{len(tables)}")
        tables[flat] = parts
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1])))
        table.set("this", exp.to_identifier(flat))
        table.set("db", None)
        table.set("catalog", None)
    for column in tree.find_all(exp.Column):
        _shorten(column, list(tables.values()))
    return tables


def _shorten(column: exp.Column, tables: Sequence[Parts]) -> None:
    qualifiers = tuple(part.name for part in column.parts[:-1])
    if len(qualifiers) > 1 and any(table[-len(qualifiers) :] == qualifiers for table in tables):
        column.set("db", None)
        column.set("catalog", None)
