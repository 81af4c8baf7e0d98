"""Snapshots of Iceberg tables, and what their summaries say was written."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from headwater.observe.spark.executions import Moved
from headwater.observe.spark.jvm import Java

_MERGED_ROWS: Final = ("spark.merge-into.num-target-rows-inserted", "spark.merge-into.num-target-rows-updated")


def history_of(table: Java, to_json: Java) -> Iterator[dict[str, Any]]:
    """The table's snapshots, newest first, each as the table's metadata have it: one call brings a whole one.

    Source: https://iceberg.apache.org/spec/#snapshots
    """
    snapshot = table.currentSnapshot()
    while snapshot is not None:
        described = orjson.loads(to_json(snapshot))
        yield described
        parent = described.get("parent-snapshot-id")
        snapshot = None if parent is None else table.snapshot(parent)


def moved(summary: Mapping[str, str]) -> Moved:
    """Rows of a merge are those it inserted or updated, without those it had to copy beside them."""
    merged = [int(summary[key]) for key in _MERGED_ROWS if key in summary]
    rows = sum(merged) if merged else _figure(summary, "added-records")
    return Moved(rows, _figure(summary, "added-files-size"), _figure(summary, "added-data-files"))


def _figure(summary: Mapping[str, str], key: str) -> int:
    return int(summary.get(key) or 0)
