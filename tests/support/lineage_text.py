"""Column lineage as short text, for hand-written expectations and readable differences.

A column input is `orders.amount AGGREGATION`; `IDENTITY` is left out, and `masked` is added where the value is hidden.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from headwater.graph.sparkplan.leaves import Leaf
from headwater.graph.sparkplan.lineage import PlanLineage
from headwater.graph.sparkplan.transformation import ColumnInput, Subtype


class LineageText(NamedTuple):
    """A plan's lineage as text."""

    columns: dict[str, frozenset[str]]
    rows: frozenset[str]
    inputs: frozenset[str]
    gaps: frozenset[str]


def as_text(lineage: PlanLineage[str], name_of: Callable[[Leaf], str | None]) -> LineageText:
    return LineageText(
        {column: frozenset(map(_text, inputs)) for column, inputs in lineage.columns.items()},
        frozenset(map(_text, lineage.dataset)),
        frozenset(filter(None, map(name_of, lineage.inputs))),
        frozenset(f"{gap.kind}: {', '.join(sorted(gap.columns))}" for gap in lineage.gaps),
    )


def expected(
    columns: Mapping[str, str], rows: str = "", inputs: str | None = None, gaps: tuple[str, ...] = ()
) -> LineageText:
    """The expected lineage of a case; `inputs` defaults to the tables of all its columns."""
    by_column = {column: _parts(text) for column, text in columns.items()}
    all_parts = frozenset().union(_parts(rows), *by_column.values())
    tables = frozenset(part.partition(".")[0] for part in all_parts) if inputs is None else _parts(inputs)
    return LineageText(by_column, _parts(rows), tables, frozenset(gaps))


def _text(item: ColumnInput[str]) -> str:
    name = f"{item.dataset}.{item.column}"
    subtype, masking = item.transformation
    return " ".join([name, *([] if subtype is Subtype.IDENTITY else [subtype.value]), *(["masked"] if masking else [])])


def _parts(text: str) -> frozenset[str]:
    return frozenset(part for part in text.split(", ") if part)
