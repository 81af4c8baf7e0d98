"""What a run wrote into an Iceberg table, from the summaries of its snapshots.

The run's session marks each snapshot with the run's id, so commits of others in between are not taken for its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pyspark.sql import SparkSession

from headwater.pipeline.execution import Execution
from headwater.pipeline.session import RUN_ID_PROPERTY
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
    return list(_own(found, execution, after, streaming=streaming))


def _own(table: Java, execution: Execution, after: int | None, *, streaming: bool) -> Iterator[Snapshot]:
    oldest = (execution.started_at - _CLOCKS_MAY_DIFFER).timestamp() * 1000
    has_own = False
    snapshot = table.currentSnapshot()
    while snapshot is not None and snapshot.snapshotId() != after and snapshot.timestampMillis() >= oldest:
        summary = snapshot.summary()
        is_own = summary.get(RUN_ID_PROPERTY) == execution.run_id
        if is_own:
            yield Snapshot(snapshot.snapshotId(), _moved(summary))
        if has_own and not is_own and not streaming:
            return
        has_own = has_own or is_own
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


def _moved(summary: Java) -> Moved:
    """Rows of a merge are those it inserted or updated, without those it had to copy beside them."""
    merged = [int(rows) for key in _MERGED_ROWS if (rows := summary.get(key)) is not None]
    rows = sum(merged) if merged else _figure(summary, "added-records")
    return Moved(rows, _figure(summary, "added-files-size"), _figure(summary, "added-data-files"))


def _figure(summary: Java, key: str) -> int:
    return int(summary.get(key) or 0)
