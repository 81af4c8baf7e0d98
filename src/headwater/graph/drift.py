"""What is different between two versions of a schema, column by column, and whether it breaks who reads them."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from headwater.graph.impact.change import fit, is_one_type

Columns = Mapping[str, str | None]
"""The types of columns, in their order; those inside others by dotted paths, behind their parent's."""
DriftKind = Literal["added", "removed", "retyped"]


class ColumnChange(NamedTuple):
    """A column that came, went or has another type."""

    column: str
    change: DriftKind
    before: str | None
    """Its type."""
    after: str | None
    is_breaking: bool | None
    """None where it depends on who reads: a decimal with other bounds."""


def column_changes(before: Columns, after: Columns) -> list[ColumnChange]:
    """The changes from one version to the next; what is inside a column that came or went is not told apart.

    A column that is renamed went, and another came: a schema does not tell that they are one.

    >>> column_changes({"price": "int", "note": "string"}, {"price": "long", "note": "boolean"})
    [ColumnChange(column='price', change='retyped', before='int', after='long', is_breaking=False),
     ColumnChange(column='note', change='retyped', before='string', after='boolean', is_breaking=True)]
    """
    changes: list[ColumnChange] = []
    for column in dict.fromkeys([*before, *after]):
        old, new = before.get(column), after.get(column)
        if column not in after:
            if not _is_inside(column, after, before):
                changes.append(ColumnChange(column, "removed", old, None, is_breaking=True))
        elif column not in before:
            if not _is_inside(column, before, after):
                changes.append(ColumnChange(column, "added", None, new, is_breaking=False))
        elif old is not None and new is not None and (found := fit(old, new)) != "same":
            changes.append(ColumnChange(column, "retyped", old, new, _BREAKING[found]))
    return changes


_BREAKING: Mapping[str, bool | None] = {
    "promoted": False,
    "may be null": True,
    "unreadable": True,
    "other bounds": None,
}


def _is_inside(column: str, lacking: Columns, having: Columns) -> bool:
    """Whether a column is inside another that one side lacks altogether; names may have dots of their own."""
    parts = column.split(".")
    outer = (".".join(parts[:end]) for end in range(1, len(parts)))
    return any(each in having and each not in lacking for each in outer)


class Telling(NamedTuple):
    """A schema, as somebody told of it; `teller` is whoever spells types in one way: a job, or who declares."""

    teller: Hashable
    columns: Columns


def drift(tellings: Iterable[Telling]) -> Iterator[list[ColumnChange]]:
    """For each telling, oldest first: what changed with it, nothing where it is news to nobody.

    Each teller is held against what it told before, since engines spell one schema in several ways. A change that
    several tell of is told with the first of them.
    """
    last: dict[Hashable, Columns] = {}
    shown: dict[str, str | None] = {}
    for teller, columns in tellings:
        before = last.get(teller)
        if before is columns:  # as of most, of which there may be thousands
            yield []
            continue
        last[teller] = columns
        if before is None:
            shown = {**columns, **shown, **_saying_more(columns, shown)}
            yield []
            continue
        found = column_changes(before, columns)
        changes = [change for change in found if not _is_shown(change, shown)]
        shown |= _saying_more({change.column: change.after for change in found if change not in changes}, shown)
        for change in changes:
            shown.pop(change.column, None)
            if change.change != "removed":
                shown[change.column] = change.after
        yield changes


def _saying_more(columns: Columns, shown: Columns) -> Columns:
    """Of columns those whose type is the one that is shown, and says more of what is never null."""
    both = ((column, shown[column], kind) for column, kind in columns.items() if column in shown)
    return {
        column: kind
        for column, now, kind in both
        if now is not None and kind is not None and now != kind
        if is_one_type(now, kind) and fit(now, kind) == "promoted"
    }


def _is_shown(change: ColumnChange, shown: Columns) -> bool:
    """Whether the column stands there already as the change leaves it."""
    if change.change == "removed" or change.column not in shown:
        return change.change == "removed" and change.column not in shown
    now, before, after = shown[change.column], change.before, change.after
    if now is None or after is None:
        return True
    # Engines differ on whether they tell what may be null: it counts where nothing else is news.
    is_only_of_null = before is not None and is_one_type(before, after)
    return fit(now, after) == "same" if is_only_of_null else is_one_type(now, after)
