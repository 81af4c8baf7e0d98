"""What the capture of a program has told."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headwater.capture.spark.capture import Capture
from headwater.observe.spark.jvm import Java, release_thread
from headwater.pipeline.tables import iceberg_table

Event = dict[str, Any]


@dataclass
class Told:
    """The events of one run, in order."""

    events: list[Event]

    @property
    def states(self) -> list[str]:
        return [event["eventType"] for event in self.events]

    @property
    def job(self) -> str:
        return str(self.events[0]["job"]["name"])

    @property
    def last(self) -> Event:
        return self.events[-1]

    def inputs(self) -> list[str]:
        """Names of the inputs, of a path its last two folders."""
        return sorted(short(one["name"]) for one in self.last.get("inputs", []))

    def outputs(self) -> dict[str, int | None]:
        """Rows written, by the target's name."""
        return {
            short(one["name"]): one.get("outputFacets", {}).get("outputStatistics", {}).get("rowCount")
            for one in self.last.get("outputs", [])
        }

    def columns(self) -> dict[str, list[str]]:
        """The direct inputs of each column of the one output."""
        (output,) = self.last["outputs"]
        return {
            column: sorted(
                f"{short(one['name'])}.{one['field']}"
                for one in fields["inputFields"]
                if any(how["type"] == "DIRECT" for how in one["transformations"])
            )
            for column, fields in output["facets"]["columnLineage"]["fields"].items()
        }

    def facet(self, name: str) -> Event:
        found: Event = self.last["run"]["facets"][name]
        return found


@dataclass
class Program:
    """A session that is listened to."""

    spark: SparkSession
    folder: Path
    raw_events: list[bytes]
    capture: Capture

    def ended(self) -> dict[str, Told]:
        """The program is at its end: what was told, by job; a job with several runs has the last one's."""
        self.capture.end()
        return {told.job: told for told in runs(self.raw_events)}


def newest_version(program: Program, table: str, branch: str = "main") -> str:
    """The id of the newest snapshot of a table's branch, as Iceberg tells it."""
    return str(_table(program, table).snapshot(branch).snapshotId())


def summaries_of(program: Program, table: str) -> dict[str, dict[str, str]]:
    """What Iceberg says of each of a table's snapshots, by the snapshot's id."""
    return {str(one.snapshotId()): dict(one.summary()) for one in _table(program, table).snapshots()}


def _table(program: Program, name: str) -> Java:
    found = iceberg_table(program.spark, name)
    found.refresh()
    return found


def at_once(*actions: Callable[[], None]) -> None:
    """Have a thread do each of the actions."""

    def act(action: Callable[[], None]) -> None:
        try:
            action()
        finally:
            release_thread()

    threads = [threading.Thread(target=act, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def runs(raw_events: list[bytes]) -> list[Told]:
    """Events by run, in the order in which the runs were first told of."""
    by_run: dict[str, list[Event]] = {}
    for raw in raw_events:
        event = json.loads(raw)
        by_run.setdefault(event["run"]["runId"], []).append(event)
    return [Told(events) for events in by_run.values()]


def short(name: str) -> str:
    return "/".join(name.rsplit("/", 2)[-2:])
