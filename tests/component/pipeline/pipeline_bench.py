"""A bench to run pipelines on, and the results of their runs."""

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyiceberg.catalog import load_catalog
from pyiceberg.table import Table
from pyspark.sql import SparkSession

from headwater.pipeline.catalogs import lake_properties
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.run import RunContext, RunResult, run_pipeline
from headwater.pipeline.stop import StopSignal

Event = dict[str, Any]


@dataclass
class FinishedRun:
    """The result of a run and its events."""

    result: RunResult
    raw_events: list[bytes]

    @property
    def events(self) -> list[Event]:
        return [json.loads(raw) for raw in self.raw_events]

    @property
    def states(self) -> list[str]:
        return [event["eventType"] for event in self.events]

    @property
    def last(self) -> Event:
        return self.events[-1]

    def counters(self) -> tuple[int | None, int | None]:
        """Rows in and out, according to the last event."""
        facet = self.last["run"]["facets"]["headwater_run"]
        return facet.get("recordsIn"), facet.get("recordsOut")

    def output(self, name_ends: str) -> Event:
        return next(dataset for dataset in self.last["outputs"] if dataset["name"].endswith(name_ends))

    def input(self, name_ends: str) -> Event:
        return next(dataset for dataset in self.last["inputs"] if dataset["name"].endswith(name_ends))


@dataclass
class Bench:
    """A folder with pipelines, their data and a lake; runs them."""

    spark: SparkSession
    folder: Path
    run_ids: Iterator[str]
    progress: list[str] = field(default_factory=list)
    lake_in: Path | None = None

    @property
    def home(self) -> Path:
        return (self.lake_in or self.folder) / "home"

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def run(self, text: str, stop: StopSignal | None = None, events: list[bytes] | None = None) -> FinishedRun:
        """Run a pipeline file of this text; name and namespace are added, `$HERE` is the bench's folder."""
        content = f"name: orders\nnamespace: test\nschema_version: 1\n{textwrap.dedent(text)}"
        if "lineage:" not in text:  # a slow machine must not put RUNNING between the events of a batch
            content += "\nlineage: {running_interval: 10m}\n"
        path = self.write("pipeline.yaml", content.replace("$HERE", str(self.folder)).replace("$ORDERS", CSV_ORDERS))
        raw_events = [] if events is None else events
        context = RunContext(
            home=self.home,
            put=raw_events.append,
            now=lambda: datetime.now(UTC),
            new_run_id=lambda: next(self.run_ids),
            node_id="edge-7",
            progress=self.progress.append,
            stop_grace_s=20,
        )
        result = run_pipeline(load_pipeline(path), self.spark, context, stop)
        return FinishedRun(result, raw_events)

    def table(self, name: str) -> Table:
        """A table of this bench's lake, as pyiceberg sees it."""
        catalog = load_catalog("lake", **lake_properties(self.home))
        try:
            return catalog.load_table(name.removeprefix("lake."))
        finally:
            catalog.close()

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """All rows of a table, sorted."""
        return sorted((tuple(row.values()) for row in self.table(name).scan().to_arrow().to_pylist()), key=repr)


CSV_ORDERS = "{file: {paths: [orders.csv], format: csv, options: {header: 'true', inferSchema: 'true'}}}"
