"""How much an action read and wrote, and which versions of tables it made."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from pyspark.sql import SparkSession

from headwater.capture.spark.action import Action
from headwater.capture.spark.application import WELL
from headwater.capture.spark.writing import Write
from headwater.observe.spark.executions import Moved, Plans, added_by_iceberg, file_write
from headwater.observe.spark.iceberg import version_facet
from headwater.observe.spark.jvm import Java, java_class
from headwater.observe.spark.snapshots import adds_files, has_files_of, history_of, moved, write_id

_ROW_LEVEL: Final = frozenset({"ReplaceData", "WriteDelta", "DeleteFromTable"})


class Figures:
    """Reads the metrics of executed plans, and the snapshots that this program made.

    Iceberg's own metrics count what an execution added, but do not name the snapshot. It is identified as one that this
    program committed while the execution ran, with the same number of bytes and files or the same file names, and that
    is not yet assigned to another execution.
    """

    def __init__(self, session: SparkSession) -> None:
        self._plans = Plans(session)
        self._session = session
        self._app_id = session.sparkContext.applicationId
        self._assigned: set[int] = set()

    def history(self, table: Java, branch: str) -> Iterator[Mapping[str, Any]]:
        """The snapshots of an Iceberg table's branch, newest first."""
        return history_of(table, self._to_json, branch)

    @cached_property
    def _to_json(self) -> Java:
        """Iceberg's JSON writer, resolved only once there is an Iceberg table: a program may lack Iceberg."""
        return java_class(self._session, "org.apache.iceberg.SnapshotParser").toJson

    def learn(self, action: Action, execution: Java) -> None:
        """Add an execution's reads and, if it succeeded, its writes."""
        plan = execution.executedPlan()
        for source, scan in self._plans.scans(plan):
            action.tally.add_scan(source, scan)
        if action.ending != WELL:
            return
        for index, write in enumerate(action.writes):
            table = write.table
            figures = file_write(plan) if table is None else self._iceberg(action, write, table, plan)
            if figures is not None:
                action.moved[index] = figures

    def _iceberg(self, action: Action, write: Write, table: Java, plan: Java) -> Moved | None:
        command, added = write.plan.productPrefix(), added_by_iceberg(plan)
        if write.is_part:  # for a staged table, the outer command makes the snapshot
            return added
        table.refresh()  # with concurrent commits the cached table may be stale
        possible = list(self._candidates(action, write))
        snapshot = self._snapshot_of(plan, table, possible, added)
        if snapshot is None:
            return None if possible or command in _ROW_LEVEL else added
        self._assigned.add(snapshot["snapshot-id"])
        if write.dataset is not None:
            write.dataset.facets["version"] = version_facet(str(snapshot["snapshot-id"]))
        return _moved(command, snapshot["summary"])

    def _snapshot_of(
        self, plan: Java, table: Java, possible: list[Mapping[str, Any]], added: Moved | None
    ) -> Mapping[str, Any] | None:
        """The one of the `possible` snapshots, newest first, that an executed plan made.

        The metrics may be those of a concurrent commit to the table: Iceberg reports each to all that have the table
        open. So if they are ambiguous, file names decide; a write without files matches a snapshot without files. Of
        several matches the oldest is taken, since executions are processed in the order of their ends.
        """
        alike = [one for one in possible if added is None or _has_figures(one["summary"], added)]
        if len(possible) == len(alike) == 1 or (write := write_id(plan)) is None:
            return alike[-1] if alike else None
        own = [one for one in possible if has_files_of(self._session, table, one["snapshot-id"], write)]
        found = own or [one for one in possible if not adds_files(one["summary"])]
        return found[-1] if found else None

    def _candidates(self, action: Action, write: Write) -> Iterator[Mapping[str, Any]]:
        """Unassigned snapshots, newest first, that this program committed while the action ran."""
        ended_at = action.ended_at or action.started_at
        first, last = ((time.timestamp() * 1000) for time in (action.started_at, ended_at))
        for snapshot in self.history(write.table, write.branch):
            if snapshot["timestamp-ms"] < first:
                return
            is_ours = snapshot.get("summary", {}).get("app-id") == self._app_id
            if is_ours and snapshot["timestamp-ms"] <= last and snapshot["snapshot-id"] not in self._assigned:
                yield snapshot


def _has_figures(summary: Mapping[str, str], added: Moved) -> bool:
    found = moved(summary)
    return (found.bytes, found.files) == (added.bytes or 0, added.files or 0)


def _moved(command: str, summary: Mapping[str, str]) -> Moved:
    """A snapshot's figures; Iceberg counts copied rows as rewritten too, except for MERGE."""
    figures = moved(summary)
    merged = any(key.startswith("spark.merge-into.") for key in summary)
    return Moved(None, figures.bytes, figures.files) if command in _ROW_LEVEL and not merged else figures
