"""Bounds the columns that a statement's stars and joins expand to, which may far exceed its text."""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from headwater.sql.reading import Bounds, UnreadableSqlError
from headwater.sql.transformations import is_row

_STARS_COUNTED: Final = 20
"""More would exceed every limit anyway."""


def check_width(tree: exp.Expr, columns: Sequence[int], bounds: Bounds) -> None:
    """Check that a statement over tables with so many columns stays within bounds.

    Raises:
        UnreadableSqlError: it does not.
    """
    if sum(columns) > bounds.known:
        raise UnreadableSqlError(f"its tables have more than {bounds.known} columns")
    widest = max(columns, default=0)
    in_stars = _in_stars(tree, widest)
    if in_stars + _in_renamed(tree, widest, in_stars) > bounds.width:
        raise UnreadableSqlError(f"its stars may stand for more than {bounds.width} columns")
    if _in_joins(tree, widest, in_stars) > bounds.width:
        raise UnreadableSqlError(f"its joins may compare more than {bounds.width} columns")
    if _in_rows(tree, widest, in_stars) > bounds.width:
        raise UnreadableSqlError(f"its rows as values may stand for more than {bounds.width} columns")


def _in_stars(tree: exp.Expr, widest: int) -> int:
    """An upper bound on the columns that a statement's stars expand to, given its widest table.

    Stars over common tables with stars multiply: each level may have as many columns as it names relations, times those
    of the level below.
    """
    stars = sum(isinstance(star.parent, exp.Select | exp.Column) for star in tree.find_all(exp.Star))
    relations = sum(1 for _ in tree.find_all(exp.Table))
    return int(widest * (relations + 1) ** min(stars, _STARS_COUNTED)) if stars else 0


def _in_renamed(tree: exp.Expr, widest: int, in_stars: int) -> int:
    """An upper bound on the columns of `FROM t AS u (a, b)`, which expands to a star."""
    renamed = sum(1 for table in tree.find_all(exp.Table) if table.alias_column_names)
    return renamed * _widest_answer(tree, widest, in_stars) if renamed else 0


def _in_joins(tree: exp.Expr, widest: int, in_stars: int) -> int:
    """An upper bound on the columns in the conditions that USING and NATURAL expand to.

    Each column of a join is compared with that of every table before it, and expands to all of them where it is named
    without a qualifier. NATURAL joins by all columns that both sides have.
    """
    joins = [join for join in tree.find_all(exp.Join) if _is_natural(join) or join.args.get("using")]
    compared = 0
    for join in joins:
        by = _widest_answer(tree, widest, in_stars) if _is_natural(join) else len(join.args["using"])
        compared += by * ((join.index or 0) + 1)
    names = {column.name for join in joins for column in join.args.get("using") or ()}
    is_any = any(map(_is_natural, joins))
    named = [each for each in tree.find_all(exp.Column) if not each.table and (is_any or each.name in names)]
    return compared + len(named) * len(joins)


def _in_rows(tree: exp.Expr, widest: int, in_stars: int) -> int:
    """An upper bound on the columns of table names used as values, and of `COLUMNS(…)` and `f(*)` over all tables."""
    relations = {alias.name for alias in tree.find_all(exp.TableAlias)}
    rows = sum(1 for each in tree.find_all(exp.Column) if not each.table and each.name in relations)
    patterns = sum(isinstance(each, exp.Columns) or is_row(each) for each in tree.find_all(exp.Columns, exp.Star))
    count = rows + patterns * len(relations)
    return count * _widest_answer(tree, widest, in_stars) if count else 0


def _widest_answer(tree: exp.Expr, widest: int, in_stars: int) -> int:
    listed = max((len(select.expressions) for select in tree.find_all(exp.Select)), default=0)
    return max(widest, listed, in_stars)


def _is_natural(join: exp.Join) -> bool:
    return join.method == "NATURAL"
