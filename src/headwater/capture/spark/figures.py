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
from headwater.observe.spark.snapshots import history_of, moved

_ROW_LEVEL: Final = frozenset({"ReplaceData", "WriteDelta", "DeleteFromTable"})


class Figures:
    """Reads the metrics of executed plans, and the snapshots that this program has made.

    Iceberg counts what an execution adds in its own metrics. Which snapshot it has made is not told: it is the one of
    this program's that was committed while the execution ran, with as many rows and bytes, and that no other has made.
    """

    def __init__(self, session: SparkSession) -> None:
        self._plans = Plans(session)
        self._session = session
        self._app_id = session.sparkContext.applicationId
        self._made: set[int] = set()

    def history(self, table: Java) -> Iterator[Mapping[str, Any]]:
        """The snapshots of an Iceberg table, newest first."""
        return history_of(table, self._to_json)

    @cached_property
    def _to_json(self) -> Java:
        """Only where there is an Iceberg table: a program may have no Iceberg at all."""
        return java_class(self._session, "org.apache.iceberg.SnapshotParser").toJson

    def learn(self, action: Action, execution: Java) -> None:
        """Count what an execution has read and, if it ended well, written."""
        plan = execution.executedPlan()
        for source, scan in self._plans.scans(plan):
            action.tally.add_scan(source, scan)
        if action.ending != WELL:
            return
        for place, write in enumerate(action.writes):
            figures = self._iceberg(action, write, plan) if write.table is not None else file_write(plan)
            if figures is not None:
                action.moved[place] = figures

    def _iceberg(self, action: Action, write: Write, plan: Java) -> Moved | None:
        command, added = write.plan.productPrefix(), added_by_iceberg(plan)
        snapshot = None if write.is_part else self._snapshot(action, write, added)
        if snapshot is None:  # of a staged table, the command around it makes the snapshot
            return None if command in _ROW_LEVEL else added
        self._made.add(snapshot["snapshot-id"])
        if write.dataset is not None:
            write.dataset.facets["version"] = version_facet(str(snapshot["snapshot-id"]))
        return _moved(command, snapshot["summary"])

    def _snapshot(self, action: Action, write: Write, added: Moved | None) -> Mapping[str, Any] | None:
        """The oldest of those that it can be: executions are told in the order of their ends."""
        found = self._possible(action, write, added)
        if not found and write.table is not None:
            write.table.refresh()  # threads that commit to a table at once may leave it as one of them found it
            found = self._possible(action, write, added)
        return found[-1] if found else None

    def _possible(self, action: Action, write: Write, added: Moved | None) -> list[Mapping[str, Any]]:
        found = list(self._candidates(action, write.table))
        return found if added is None else [one for one in found if _is_added(one["summary"], added)]

    def _candidates(self, action: Action, table: Java) -> Iterator[Mapping[str, Any]]:
        """Snapshots, newest first, that this program committed while the action ran, and that are nobody's yet."""
        ended_at = action.ended_at or action.started_at
        first, last = ((time.timestamp() * 1000) for time in (action.started_at, ended_at))
        for snapshot in self.history(table):
            if snapshot["timestamp-ms"] < first:
                return
            is_ours = snapshot.get("summary", {}).get("app-id") == self._app_id
            if is_ours and snapshot["timestamp-ms"] <= last and snapshot["snapshot-id"] not in self._made:
                yield snapshot


def _is_added(summary: Mapping[str, str], added: Moved) -> bool:
    told = moved(summary)
    return (told.bytes, told.files) == (added.bytes or 0, added.files or 0)


def _moved(command: str, summary: Mapping[str, str]) -> Moved:
    """Of rows that are rewritten, Iceberg counts those that had to be copied too: only MERGE tells them apart."""
    figures = moved(summary)
    merged = any(key.startswith("spark.merge-into.") for key in summary)
    return Moved(None, figures.bytes, figures.files) if command in _ROW_LEVEL and not merged else figures
