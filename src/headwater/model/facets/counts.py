"""Counts that a producer reports as text: `"rowCount": "12"` is read as a number.

`docs/mending.md` says the same to users.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

COUNTED: Final = frozenset({"inputStatistics", "outputStatistics", "dataQualityMetrics"})
"""Facets that contain counts."""
_COUNTS: Final = frozenset({"rowCount", "size", "fileCount", "bytes", "nullCount", "distinctCount"})
_OF_COLUMNS: Final = "columnMetrics"
_DECIMAL: Final = re.compile(r"[0-9]{1,19}")


def _number(value: object) -> object:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


Count = Annotated[int, BeforeValidator(_number)]
"""A count, which JSON may also write as `7.0`, and some producers as `"7"`."""


def counts_as_text(facet: Mapping[str, Any]) -> Iterator[str]:
    """The counts of a facet that are text, by path: `rowCount`, `columnMetrics.id.nullCount`; none if it is deleted."""
    if facet.get("_deleted") is True:
        return
    for name, value in facet.items():
        if name in _COUNTS and isinstance(value, str) and _DECIMAL.fullmatch(value):
            yield name
    for column, metrics in _columns(facet):
        yield from (f"{_OF_COLUMNS}.{column}.{name}" for name in counts_as_text(metrics))


def as_numbers(facet: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facet with these counts as numbers; everything else unchanged."""
    if not any(counts_as_text(facet)):
        return facet
    counted = {name: _number(value) if name in _COUNTS else value for name, value in facet.items()}
    if columns := {column: as_numbers(metrics) for column, metrics in _columns(facet)}:
        counted[_OF_COLUMNS] = {**facet[_OF_COLUMNS], **columns}
    return counted


def _columns(facet: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    columns = facet.get(_OF_COLUMNS)
    for column, metrics in columns.items() if isinstance(columns, dict) else ():
        if isinstance(metrics, dict):
            yield column, metrics
