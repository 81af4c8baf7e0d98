"""How much a run wrote into an Iceberg table, from the summaries of its snapshots.

The run's session marks each snapshot with the run's id, so commits of others in between are not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pyspark.sql import SparkSession

from headwater.observe.spark.executions import Moved
from headwater.observe.spark.jvm import java_class
from headwater.observe.spark.snapshots import history_of, moved
from headwater.pipeline.execution import Execution
from headwater.pipeline.session import RUN_ID_PROPERTY
from headwater.pipeline.tables import iceberg_table

_CLOCKS_MAY_DIFFER: Final = timedelta(minutes=5)
"""Snapshots older than the run by more than this are not read: a table may have thousands."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A version of a table that the run made."""

    id: int
    moved: Moved


def snapshots_of_run(
    session: SparkSession, table: str, execution: Execution, after: int | None, *, streaming: bool
) -> list[Snapshot]:
    """The run's snapshots, newest first, back to the snapshot `after` that is known already.

    A stream commits in a session of its own, so the table is reloaded from the catalog, and others may commit between
    two of its snapshots; those of a batch are consecutive.
    """
    found = iceberg_table(session, table)
    if found is None:
        return []
    if streaming:
        found.refresh()
    history = history_of(found, java_class(session, "org.apache.iceberg.SnapshotParser").toJson)
    return list(_own(history, execution, after, streaming=streaming))


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
            yield Snapshot(snapshot["snapshot-id"], moved(summary))
        if has_own and not is_own and not streaming:
            return
        has_own = has_own or is_own
