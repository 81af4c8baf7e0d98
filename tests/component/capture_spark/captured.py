"""The events of a captured program, by run."""

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
class CapturedRun:
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
        """Names of the inputs; of a path, its last two folders."""
        return sorted(short_name(dataset["name"]) for dataset in self.last.get("inputs", []))

    def outputs(self) -> dict[str, int | None]:
        """Rows written, by the target's name."""
        return {
            short_name(dataset["name"]): dataset.get("outputFacets", {}).get("outputStatistics", {}).get("rowCount")
            for dataset in self.last.get("outputs", [])
        }

    def columns(self) -> dict[str, list[str]]:
        """The direct inputs of each column of the only output."""
        (output,) = self.last["outputs"]
        return {
            column: sorted(
                f"{short_name(source['name'])}.{source['field']}"
                for source in fields["inputFields"]
                if any(transformation["type"] == "DIRECT" for transformation in source["transformations"])
            )
            for column, fields in output["facets"]["columnLineage"]["fields"].items()
        }

    def facet(self, name: str) -> Event:
        facet: Event = self.last["run"]["facets"][name]
        return facet


@dataclass
class Program:
    """A Spark session whose actions are captured."""

    spark: SparkSession
    folder: Path
    raw_events: list[bytes]
    capture: Capture

    def end(self) -> dict[str, CapturedRun]:
        """End the capture and return the last run of each job, by the job's name."""
        self.capture.end()
        return {run.job: run for run in runs_of(self.raw_events)}


def newest_version(program: Program, table: str, branch: str = "main") -> str:
    """The id of the newest snapshot of a table's branch, according to Iceberg."""
    return str(_table(program, table).snapshot(branch).snapshotId())


def summaries_of(program: Program, table: str) -> dict[str, dict[str, str]]:
    """Iceberg's summary of each of a table's snapshots, by the snapshot's id."""
    return {str(snapshot.snapshotId()): dict(snapshot.summary()) for snapshot in _table(program, table).snapshots()}


def _table(program: Program, name: str) -> Java:
    table = iceberg_table(program.spark, name)
    table.refresh()
    return table


def in_parallel(*actions: Callable[[], None]) -> None:
    """Run each action in a thread of its own, and wait for all."""

    def run(action: Callable[[], None]) -> None:
        try:
            action()
        finally:
            release_thread()

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def runs_of(raw_events: list[bytes]) -> list[CapturedRun]:
    """Events by run, in the order of the runs' first events."""
    by_run: dict[str, list[Event]] = {}
    for raw in raw_events:
        event = json.loads(raw)
        by_run.setdefault(event["run"]["runId"], []).append(event)
    return [CapturedRun(events) for events in by_run.values()]


def short_name(name: str) -> str:
    return "/".join(name.rsplit("/", 2)[-2:])
