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
    """Reads the metrics of executed plans, and the snapshots that this program has made.

    Iceberg counts what an execution adds in its own metrics. Which snapshot it has made is not told: it is the one of
    this program's that was committed while the execution ran, with as many bytes and files or with its very files, and
    that no other has made.
    """

    def __init__(self, session: SparkSession) -> None:
        self._plans = Plans(session)
        self._session = session
        self._app_id = session.sparkContext.applicationId
        self._made: set[int] = set()

    def history(self, table: Java, branch: str) -> Iterator[Mapping[str, Any]]:
        """The snapshots of an Iceberg table's branch, newest first."""
        return history_of(table, self._to_json, branch)

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
            table = write.table
            figures = file_write(plan) if table is None else self._iceberg(action, write, table, plan)
            if figures is not None:
                action.moved[place] = figures

    def _iceberg(self, action: Action, write: Write, table: Java, plan: Java) -> Moved | None:
        command, added = write.plan.productPrefix(), added_by_iceberg(plan)
        if write.is_part:  # of a staged table, the command around it makes the snapshot
            return added
        table.refresh()  # threads that commit to a table at once may leave it as one of them found it
        possible = list(self._candidates(action, write))
        snapshot = self._made_by(plan, table, possible, added)
        if snapshot is None:
            return None if possible or command in _ROW_LEVEL else added
        self._made.add(snapshot["snapshot-id"])
        if write.dataset is not None:
            write.dataset.facets["version"] = version_facet(str(snapshot["snapshot-id"]))
        return _moved(command, snapshot["summary"])

    def _made_by(
        self, plan: Java, table: Java, possible: list[Mapping[str, Any]], added: Moved | None
    ) -> Mapping[str, Any] | None:
        """That of the possible snapshots, newest first, which an executed plan made.

        The metrics may be those of another commit to the table at the same time: Iceberg reports each to all that have
        the table open. So where they do not settle it, the names of the files do, and a write that made no files is
        told by its snapshot's having none; the oldest is taken of several, as executions are told in the order of
        their ends.
        """
        alike = [one for one in possible if added is None or _is_added(one["summary"], added)]
        if len(possible) == len(alike) == 1 or (write := write_id(plan)) is None:
            return alike[-1] if alike else None
        own = [one for one in possible if has_files_of(self._session, table, one["snapshot-id"], write)]
        found = own or [one for one in possible if not adds_files(one["summary"])]
        return found[-1] if found else None

    def _candidates(self, action: Action, write: Write) -> Iterator[Mapping[str, Any]]:
        """Snapshots, newest first, that this program committed while the action ran, and that are nobody's yet."""
        ended_at = action.ended_at or action.started_at
        first, last = ((time.timestamp() * 1000) for time in (action.started_at, ended_at))
        for snapshot in self.history(write.table, write.branch):
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
