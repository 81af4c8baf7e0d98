"""What a run wrote into an Iceberg table, from the summaries of its snapshots.

The run's session marks each snapshot with the run's id, so commits of others in between are not taken for its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import orjson
from pyspark.sql import SparkSession

from headwater.pipeline.execution import Execution
from headwater.pipeline.session import RUN_ID_PROPERTY, java_class
from headwater.pipeline.tables import iceberg_table
from headwater.pipeline.telling.executions import Moved
from headwater.pipeline.telling.relations import Java

_CLOCKS_MAY_DIFFER: Final = timedelta(minutes=5)
"""Snapshots that are older than the run by more than this are not looked at: a table may have thousands."""

_MERGED_ROWS: Final = ("spark.merge-into.num-target-rows-inserted", "spark.merge-into.num-target-rows-updated")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A version of a table that the run made."""

    id: int
    moved: Moved


def snapshots_of_run(
    session: SparkSession, table: str, execution: Execution, after: int | None, *, streaming: bool
) -> list[Snapshot]:
    """The run's snapshots, newest first, back to the one that is known already.

    A stream commits in a session of its own, so the catalog is asked anew, and others may commit between two of its
    snapshots; those of a batch follow each other.
    """
    found = iceberg_table(session, table)
    if found is None:
        return []
    if streaming:
        found.refresh()
    history = _history(found, java_class(session, "org.apache.iceberg.SnapshotParser").toJson)
    return list(_own(history, execution, after, streaming=streaming))


def _history(table: Java, to_json: Java) -> Iterator[dict[str, Any]]:
    """The table's snapshots, newest first, each as the table's metadata have it: one call brings a whole one.

    Source: https://iceberg.apache.org/spec/#snapshots
    """
    snapshot = table.currentSnapshot()
    while snapshot is not None:
        described = orjson.loads(to_json(snapshot))
        yield described
        parent = described.get("parent-snapshot-id")
        snapshot = None if parent is None else table.snapshot(parent)


def _own(
    history: Iterator[dict[str, Any]], execution: Execution, after: int | None, *, streaming: bool
) -> Iterator[Snapshot]:
    oldest = (execution.started_at - _CLOCKS_MAY_DIFFER).timestamp() * 1000
    has_own = False
    for snapshot in history:
        if snapshot["snapshot-id"] == after or snapshot["timestamp-ms"] < oldest:
            return
        summary = snapshot.get("summary", {})
        is_own = summary.get(RUN_ID_PROPERTY) == execution.run_id
        if is_own:
            yield Snapshot(snapshot["snapshot-id"], _moved(summary))
        if has_own and not is_own and not streaming:
            return
        has_own = has_own or is_own


def _moved(summary: Mapping[str, str]) -> Moved:
    """Rows of a merge are those it inserted or updated, without those it had to copy beside them."""
    merged = [int(summary[key]) for key in _MERGED_ROWS if key in summary]
    rows = sum(merged) if merged else _figure(summary, "added-records")
    return Moved(rows, _figure(summary, "added-files-size"), _figure(summary, "added-data-files"))


def _figure(summary: Mapping[str, str], key: str) -> int:
    return int(summary.get(key) or 0)
