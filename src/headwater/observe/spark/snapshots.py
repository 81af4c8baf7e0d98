"""Snapshots of Iceberg tables: the counts in their summaries, and which write made a snapshot."""

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
"""The most files read of a manifest: files that the snapshot added come before those it inherited."""

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
    """The snapshots of a branch, newest first, each as in the table's metadata, with one call into the JVM each.

    Source: https://iceberg.apache.org/spec/#snapshots
    """
    snapshot = table.snapshot(branch)
    while snapshot is not None:
        described = orjson.loads(to_json(snapshot))
        yield described
        parent = described.get("parent-snapshot-id")
        snapshot = None if parent is None else table.snapshot(parent)


def write_id(plan: Java) -> str | None:
    """The id of the write at the top of an executed plan; None if it has none.

    Iceberg puts it into the names of data and delete files: `00000-7-ID-00001.parquet`.
    """
    if plan.productPrefix() not in _WITH_A_WRITE:
        return None
    write = plan.write()
    found = private(private(write, "context") or write, "queryId")
    return None if found is None else str(found)


def has_files_of(session: SparkSession, table: Java, snapshot: int, write: str) -> bool:
    """Whether a write created the files that a snapshot added, by their names in the snapshot's manifests."""
    files = java_class(session, "org.apache.iceberg.ManifestFiles")
    reads = {"DATA": files.read, "DELETES": files.readDeleteManifest}
    for manifest in table.snapshot(snapshot).allManifests(table.io()):
        if manifest.snapshotId() == snapshot and manifest.hasAddedFiles():
            with closing(reads[manifest.content().toString()](manifest, table.io(), table.specs())) as reader:
                if any(f"-{write}-" in file.location() for file in islice(reader.iterator(), _FILES_LOOKED_AT)):
                    return True
    return False


def moved(summary: Mapping[str, str]) -> Moved:
    """How much a snapshot added; rows of a merge are those inserted or updated, without copied ones."""
    merged = [int(summary[key]) for key in _MERGED_ROWS if key in summary]
    rows = sum(merged) if merged else _figure(summary, "added-records")
    return Moved(rows, _figure(summary, "added-files-size"), _figure(summary, "added-data-files"))


def adds_files(summary: Mapping[str, str]) -> bool:
    """Whether a snapshot added data or delete files."""
    return _figure(summary, "added-data-files") + _figure(summary, "added-delete-files") > 0


def _figure(summary: Mapping[str, str], key: str) -> int:
    return int(summary.get(key) or 0)
