"""Parses a text into one statement, with tables under flat names, within bounds that hold for any text.

The bounds are counts, not times, so that the same text always gives the same result: an event's facts depend on it.
"""

import logging
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.tokenizer_core import Token, TokenType

from headwater.sql.flat import Parts as Parts  # re-exported for the other modules
from headwater.sql.flat import flattened, unused_prefix
from headwater.sql.identifiers import has_unnamed_sources, name_identifiers

log = logging.getLogger(__name__)

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns about statements it cannot parse; here they are gaps

DEEPEST: Final = 50
"""Nesting levels of brackets and CASEs: sqlglot recurses, and must not exhaust the stack."""


class Bounds(NamedTuple):
    """Limits on a statement.

    Attributes:
        relations: references to tables and common tables.
        width: columns that stars expand to, nested ones included, or that joins compare.
        known: columns of all tables together.
    """

    characters: int
    tokens: int
    relations: int
    width: int
    known: int


INTAKE_BOUNDS: Final = Bounds(characters=20_000, tokens=1_500, relations=40, width=5_000, known=50_000)
"""For a service that accepts events from anyone: at most half a second; queries of dashboards take a hundredth."""
LOCAL_BOUNDS: Final = Bounds(characters=400_000, tokens=40_000, relations=400, width=200_000, known=2_000_000)
"""For a user's own statements on their own machine."""

_OPENS: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSES: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_PREFIXES: Final = frozenset({TokenType.NOT, TokenType.DASH, TokenType.TILDE, TokenType.PLUS})


class UnreadableSqlError(Exception):
    """The statement cannot be analysed; the message says why, and never quotes the text."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A statement whose tables have flat names, `t0`, `t1` …, and their original names.

    Attributes:
        is_whole: whether it names everything that it reads.
    """

    tree: exp.Expr
    tables: dict[str, Parts]
    is_whole: bool


def dialect_named(name: str) -> Dialect:
    """The dialect with sqlglot's name.

    Raises:
        UnreadableSqlError: there is none.
    """
    try:
        return Dialect.get_or_raise(name)
    except ValueError:
        known = ", ".join(sorted(filter(None, Dialect.classes)))
        raise UnreadableSqlError(f"unknown dialect {name!r}; expected one of {known}") from None


def parsed(text: str, dialect: str, bounds: Bounds = LOCAL_BOUNDS) -> Parsed:
    """The single statement of the text, with unquoted identifiers folded as in the dialect.

    Raises:
        UnreadableSqlError: it is too long, nested too deeply, not one statement, or not valid in the dialect; it names
            a table without its schema, as in `shop..orders`; or the dialect is unknown.
    """
    with sqlglot_errors_as("sqlglot cannot parse it"):
        tree, prefix = _tree(text, dialect_named(dialect), bounds)
        name_identifiers(tree, dialect)
        if any(table.args.get("db") == "" for table in tree.find_all(exp.Table)):
            raise UnreadableSqlError("a table in it has no schema between two dots")
        normalize_identifiers(tree, dialect=dialect)
        _deduplicate_ordinals(tree)
        is_whole = not has_unnamed_sources(tree)
        return Parsed(tree, flattened(tree, dialect, prefix), is_whole)


@contextmanager
def sqlglot_errors_as(fault: str) -> Iterator[None]:
    """Translate any exception from sqlglot, or from our walk of its trees, into UnreadableSqlError with this message.

    Unexpected exceptions are logged with their type and place only, since the message may contain parts of the text.

    Raises:
        UnreadableSqlError: for any exception except MemoryError.
    """
    try:
        yield
    except (UnreadableSqlError, MemoryError):
        raise
    except Exception as error:
        if not isinstance(error, SqlglotError | RecursionError):
            log.info("cannot analyse an SQL statement", extra={"error": type(error).__name__, "place": _place(error)})
        raise UnreadableSqlError(f"{fault} ({type(error).__name__})") from None


def _place(error: Exception) -> str:
    """The function and line where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.name}:{frame.lineno}"


def _tree(text: str, dialect: Dialect, bounds: Bounds) -> tuple[exp.Expr, str]:
    """The tree, and a prefix for its tables' flat names."""
    if len(text) > bounds.characters:
        raise UnreadableSqlError(f"it is longer than {bounds.characters} characters")
    tokens = dialect.tokenize(text)
    if len(tokens) > bounds.tokens:
        raise UnreadableSqlError(f"it has more than {bounds.tokens} tokens")
    if _depth(tokens) > DEEPEST:
        raise UnreadableSqlError(f"it is nested deeper than {DEEPEST} levels")
    parts = dialect.parser().parse(tokens, text)
    found = [tree for tree in parts if tree is not None and not isinstance(tree, exp.Semicolon)]  # a comment at the end
    if len(found) != 1:
        raise UnreadableSqlError("it is not one statement")
    if sum(1 for _ in found[0].find_all(exp.Table)) > bounds.relations:
        raise UnreadableSqlError(f"it has more than {bounds.relations} references to tables")
    return found[0], unused_prefix(token.text for token in tokens)


def _deduplicate_ordinals(tree: exp.Expr) -> None:
    """Remove duplicates in `GROUP BY 1, 1, 1`: sqlglot would expand the whole column for each."""
    for clause in tree.find_all(exp.Group, exp.Order):
        seen: set[str] = set()
        kept = []
        for item in clause.expressions:
            ordinal = item.this if isinstance(item, exp.Ordered) else item
            is_duplicate = isinstance(ordinal, exp.Literal) and ordinal.name in seen
            if isinstance(ordinal, exp.Literal):
                seen.add(ordinal.name)
            if not is_duplicate:
                kept.append(item)
        clause.set("expressions", kept)


def _depth(tokens: Iterable[Token]) -> int:
    depth = deepest = prefixes = 0
    for token in tokens:
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        depth += (token.token_type in _OPENS) - (token.token_type in _CLOSES)
        deepest = max(deepest, depth + prefixes)
    return deepest
