"""Snapshots of Iceberg tables, what their summaries say was written, and which write made one."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, Final

import orjson
from pyspark.sql import SparkSession

from headwater.observe.spark.executions import Moved
from headwater.observe.spark.jvm import Java, java_class, private

MAIN: Final = "main"
"""The branch whose newest snapshot is the table's current one."""

_FILES_LOOKED_AT: Final = 16
"""Of a manifest: those that the snapshot has added come before those that it has taken over."""

_WITH_A_WRITE: Final = frozenset(
    {
        "AppendDataExec",
        "OverwriteByExpressionExec",
        "OverwritePartitionsDynamicExec",
        "ReplaceDataExec",
        "WriteDeltaExec",
    }
)

_MERGED_ROWS: Final = ("spark.merge-into.num-target-rows-inserted", "spark.merge-into.num-target-rows-updated")


def history_of(table: Java, to_json: Java, branch: str = MAIN) -> Iterator[dict[str, Any]]:
    """The snapshots of a branch, newest first, each as the table's metadata have it: one call brings a whole one.

    Source: https://iceberg.apache.org/spec/#snapshots
    """
    snapshot = table.snapshot(branch)
    while snapshot is not None:
        described = orjson.loads(to_json(snapshot))
        yield described
        parent = described.get("parent-snapshot-id")
        snapshot = None if parent is None else table.snapshot(parent)


def write_id(plan: Java) -> str | None:
    """The id that the write at the top of an executed plan gives to each file it makes; None where it has none.

    Iceberg has it in the names of data and delete files: `00000-7-ID-00001.parquet`.
    """
    if plan.productPrefix() not in _WITH_A_WRITE:
        return None
    write = plan.write()
    found = private(private(write, "context") or write, "queryId")
    return None if found is None else str(found)


def has_files_of(session: SparkSession, table: Java, snapshot: int, write: str) -> bool:
    """Whether a write made the files that a snapshot added, by their names: its manifests are read for it."""
    files = java_class(session, "org.apache.iceberg.ManifestFiles")
    reads = {"DATA": files.read, "DELETES": files.readDeleteManifest}
    for manifest in table.snapshot(snapshot).allManifests(table.io()):
        if manifest.snapshotId() == snapshot and manifest.hasAddedFiles():
            with closing(reads[manifest.content().toString()](manifest, table.io(), table.specs())) as reader:
                if any(f"-{write}-" in file.location() for file in islice(reader.iterator(), _FILES_LOOKED_AT)):
                    return True
    return False


def moved(summary: Mapping[str, str]) -> Moved:
    """Rows of a merge are those it inserted or updated, without those it had to copy beside them."""
    merged = [int(summary[key]) for key in _MERGED_ROWS if key in summary]
    rows = sum(merged) if merged else _figure(summary, "added-records")
    return Moved(rows, _figure(summary, "added-files-size"), _figure(summary, "added-data-files"))


def adds_files(summary: Mapping[str, str]) -> bool:
    """Whether a snapshot has added data or delete files."""
    return _figure(summary, "added-data-files") + _figure(summary, "added-delete-files") > 0


def _figure(summary: Mapping[str, str], key: str) -> int:
    return int(summary.get(key) or 0)
