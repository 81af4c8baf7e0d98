"""The differences between two versions of a schema, column by column, and whether each breaks readers."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from headwater.graph.impact.change import fit, is_one_type

Columns = Mapping[str, str | None]
"""Column types in order; nested columns by dotted path, after their parent."""
DriftKind = Literal["added", "removed", "retyped"]


class ColumnChange(NamedTuple):
    """A column that was added, removed or retyped."""

    column: str
    change: DriftKind
    before: str | None
    """The type before."""
    after: str | None
    is_breaking: bool | None
    """None where it depends on the reader: a decimal with other bounds."""


def column_changes(before: Columns, after: Columns) -> list[ColumnChange]:
    """The changes from one version to the next; fields of an added or removed column are not listed separately.

    A renamed column counts as one removed and one added: a schema does not say that they are the same.

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
    """Whether a column is nested in one that `lacking` lacks altogether; column names may contain dots themselves."""
    parts = column.split(".")
    outer = (".".join(parts[:end]) for end in range(1, len(parts)))
    return any(each in having and each not in lacking for each in outer)


class ReportedSchema(NamedTuple):
    """A schema as reported; `reporter` is what spells types consistently: a job, or the source of a declaration."""

    reporter: Hashable
    columns: Columns


def drift(schemas: Iterable[ReportedSchema]) -> Iterator[list[ColumnChange]]:
    """For each reported schema, oldest first: the changes first seen with it.

    Each reporter is compared with its own previous report, since engines spell the same schema differently. A change
    that several report is listed with the first report.
    """
    last: dict[Hashable, Columns] = {}
    shown: dict[str, str | None] = {}
    for reporter, columns in schemas:
        before = last.get(reporter)
        if before is columns:  # the common case, and there may be thousands
            yield []
            continue
        last[reporter] = columns
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
    """The columns whose shown type is the same but says less about null than this one."""
    both = ((column, shown[column], kind) for column, kind in columns.items() if column in shown)
    return {
        column: kind
        for column, now, kind in both
        if now is not None and kind is not None and now != kind
        if is_one_type(now, kind) and fit(now, kind) == "promoted"
    }


def _is_shown(change: ColumnChange, shown: Columns) -> bool:
    """Whether the shown schema already has the column as the change leaves it."""
    if change.change == "removed" or change.column not in shown:
        return change.change == "removed" and change.column not in shown
    now, before, after = shown[change.column], change.before, change.after
    if now is None or after is None:
        return True
    # Engines differ on whether they report nullability: a change of it counts only if nothing else is new.
    is_only_of_null = before is not None and is_one_type(before, after)
    return fit(now, after) == "same" if is_only_of_null else is_one_type(now, after)
