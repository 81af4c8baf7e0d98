"""One statement out of a text: tables under flat names, within bounds that hold for any text.

The bounds are counts, not times, so that the same text always gives the same answer: the facts of an event hang on it.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.tokenizer_core import Token, TokenType

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what it takes as opaque; here that is a gap

Parts = tuple[str, ...]
"""A table as a statement names it: `("orders",)` or `("lake", "sales", "orders")`."""

DEEPEST: Final = 50
"""Levels of brackets and CASEs: sqlglot reads by recursion, which must not end with our stack's size."""


class Bounds(NamedTuple):
    """How much of a statement is read.

    Attributes:
        relations: how often tables and common tables are named.
        width: columns that stars may stand for, at most, one within the other.
    """

    characters: int
    tokens: int
    relations: int
    width: int


AT_INTAKE: Final = Bounds(characters=20_000, tokens=1_500, relations=40, width=5_000)
"""For a service that takes events of anybody: half a second at the worst, and what dashboards ask is a hundredth."""
OF_OWN: Final = Bounds(characters=400_000, tokens=40_000, relations=400, width=200_000)
"""For what users have read on their own machine."""

_STARS_COUNTED: Final = 20
"""Of more the bound is beyond every limit anyway."""
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


def parsed(text: str, dialect: str, bounds: Bounds = OF_OWN) -> Parsed:
    """The one statement of the text, identifiers without quotes folded as the dialect does.

    Raises:
        UnreadableSqlError: it is too long or too deep, is not one statement, or sqlglot does not know its syntax.
    """
    try:
        tree = _tree(text, Dialect.get_or_raise(dialect), bounds)
        normalize_identifiers(tree, dialect=dialect)
    except (SqlglotError, RecursionError) as fault:
        raise UnreadableSqlError(f"sqlglot cannot read it ({type(fault).__name__})") from None
    _name_places_once(tree)
    return Parsed(tree, _flattened(tree))


def _tree(text: str, dialect: Dialect, bounds: Bounds) -> exp.Expr:
    if len(text) > bounds.characters:
        raise UnreadableSqlError(f"it is longer than {bounds.characters} characters")
    tokens = dialect.tokenize(text)
    if len(tokens) > bounds.tokens:
        raise UnreadableSqlError(f"it has more than {bounds.tokens} words")
    if _depth(tokens) > DEEPEST:
        raise UnreadableSqlError(f"it is nested deeper than {DEEPEST} levels")
    found = [tree for tree in dialect.parser().parse(tokens, text) if tree is not None]
    if len(found) != 1:
        raise UnreadableSqlError("it is not one statement")
    if sum(1 for _ in found[0].find_all(exp.Table)) > bounds.relations:
        raise UnreadableSqlError(f"it names tables more than {bounds.relations} times")
    return found[0]


def width_of_stars(tree: exp.Expr, widest: int) -> int:
    """A bound on the columns that the stars in a statement stand for, by the columns of its widest table.

    A star over common tables with stars multiplies: each level may have as many columns as it names relations, times
    those of the level below.
    """
    stars = sum(isinstance(star.parent, exp.Select | exp.Column) for star in tree.find_all(exp.Star))
    relations = sum(1 for _ in tree.find_all(exp.Table))
    return int(widest * (relations + 1) ** min(stars, _STARS_COUNTED)) if stars else 0


def _name_places_once(tree: exp.Expr) -> None:
    """Of `GROUP BY 1, 1, 1` one 1 says all, and sqlglot puts the whole column in the place of each."""
    for clause in tree.find_all(exp.Group, exp.Order):
        seen: set[str] = set()
        kept = []
        for item in clause.expressions:
            place = item.this if isinstance(item, exp.Ordered) else item
            is_again = isinstance(place, exp.Literal) and place.name in seen
            if isinstance(place, exp.Literal):
                seen.add(place.name)
            if not is_again:
                kept.append(item)
        clause.set("expressions", kept)


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
