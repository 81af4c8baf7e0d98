"""Bounds the columns that a statement's stars and joins expand to, which may be many more than its text has."""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from headwater.sql.reading import Bounds, UnreadableSqlError
from headwater.sql.transformations import is_row


def check_width(tree: exp.Expr, columns: Sequence[int], bounds: Bounds) -> None:
    """Check that a statement stays within bounds, given the number of columns of each table.

    Raises:
        UnreadableSqlError: it does not.
    """
    if sum(columns) > bounds.known:
        raise UnreadableSqlError(f"its tables have more than {bounds.known} columns")
    widest = max(columns, default=0)
    in_stars = _in_stars(tree, widest)
    if in_stars + _in_renamed(tree, widest, in_stars) > bounds.width:
        raise UnreadableSqlError(f"its stars may expand to more than {bounds.width} columns")
    if _in_joins(tree, widest, in_stars) > bounds.width:
        raise UnreadableSqlError(f"its joins may compare more than {bounds.width} columns")
    if _in_rows(tree, widest, in_stars) > bounds.width:
        raise UnreadableSqlError(f"its rows used as values may expand to more than {bounds.width} columns")


def _in_stars(tree: exp.Expr, widest: int) -> int:
    """The number of columns of all queries with stars, if every table were as wide as the widest.

    A common table counts once, however often it is referenced; if several have that name, the widest counts.
    """
    names = {common.alias for common in tree.find_all(exp.CTE)}
    common: dict[str, int] = {}
    widths: dict[int, int] = {}
    in_stars = 0
    for at in _bottom_up(tree):
        inner = sum(widths[id(each)] for each in (at.this, *(at.args.get("joins") or ())) if id(each) in widths)
        match at:
            case exp.Select():
                inner = _in_select(at, widths)
                in_stars += inner if any(item.is_star for item in at.expressions) else 0
            case exp.SetOperation() if at.args.get("by_name"):
                inner += widths.get(id(at.expression), 0)
            case exp.Table(this=exp.Identifier()):
                # A recursive reference is as wide as the anchor query.
                inner += common.get(at.name, max(widths.values(), default=0)) if at.name in names else widest
                inner += sum(len(list(pivot.walk())) for pivot in at.args.get("pivots") or ())
            case exp.CTE():
                common[at.alias] = max(common.get(at.alias, 0), inner)
            case exp.Values() | exp.Unnest():
                inner = max(len(at.alias_column_names), *(len(row.expressions) for row in at.expressions), 1)
        widths[id(at)] = inner
    return in_stars


def _in_select(select: exp.Select, widths: Mapping[int, int]) -> int:
    begin = select.args.get("from_")
    relations = [
        *([] if begin is None else [begin]),
        *(select.args.get("joins") or ()),
        *(select.args.get("laterals") or ()),
    ]
    named = {relation.alias_or_name: widths[id(relation)] for relation in relations}
    every = sum(widths[id(relation)] for relation in relations)
    stars = (named.get(item.text("table"), every) for item in select.expressions if item.is_star)
    return len(select.expressions) + sum(stars)


def _bottom_up(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of the tree, children before parents, and common tables before references to them."""
    waiting = [(tree, False)]
    while waiting:
        at, is_done = waiting.pop()
        if is_done:
            yield at
            continue
        waiting.append((at, True))
        within = sorted(at.iter_expressions(), key=lambda each: each.arg_key == "with_")
        waiting.extend((each, False) for each in within)


def _in_renamed(tree: exp.Expr, widest: int, in_stars: int) -> int:
    """An upper bound on the columns of `FROM t AS u (a, b)`, which expands to a star."""
    renamed = sum(1 for table in tree.find_all(exp.Table) if table.alias_column_names)
    return renamed * _widest_output(tree, widest, in_stars) if renamed else 0


def _in_joins(tree: exp.Expr, widest: int, in_stars: int) -> int:
    """An upper bound on the columns in the conditions that USING and NATURAL expand to.

    Each column of a join is compared with that of every table before it, and expands to all of them where it is named
    without a qualifier. NATURAL joins by all columns that both sides have.
    """
    joins = [join for join in tree.find_all(exp.Join) if _is_natural(join) or join.args.get("using")]
    compared = 0
    for join in joins:
        by = _widest_output(tree, widest, in_stars) if _is_natural(join) else len(join.args["using"])
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
    return count * _widest_output(tree, widest, in_stars) if count else 0


def _widest_output(tree: exp.Expr, widest: int, in_stars: int) -> int:
    listed = max((len(select.expressions) for select in tree.find_all(exp.Select)), default=0)
    return max(widest, listed, in_stars)


def _is_natural(join: exp.Join) -> bool:
    return join.method == "NATURAL"
