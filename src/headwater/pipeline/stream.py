"""The work of a stream: one streaming query for every frame that is written.

A query with one output that Spark itself can write exactly once (appending to files or to an Iceberg table) is left to
Spark. Others write each micro-batch through the same sinks as a batch: at least once; except that a micro-batch that is
already in an Iceberg table is not appended again, and that a merge can be repeated safely.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from pyspark.sql import DataFrame
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from headwater.pipeline.frames import named
from headwater.pipeline.reporting.observer import Observer
from headwater.pipeline.session import SNAPSHOT_PROPERTY
from headwater.pipeline.sinks.iceberg import add_columns, make_table
from headwater.pipeline.sinks.write import write
from headwater.pipeline.spec import FileOutput, IcebergOutput, KafkaInput, Output, PipelineSpec, StdoutOutput
from headwater.pipeline.tables import iceberg_table, quoted

_MICRO_BATCH: Final = "headwater.micro-batch"
_POLL_S: Final = 0.2


class Streams:
    """The streaming queries of a run."""

    def __init__(self, spec: PipelineSpec, frames: Mapping[str, DataFrame], observer: Observer, home: Path) -> None:
        self._spec = spec
        self._frames = frames
        self._observer = observer
        self._checkpoints = spec.stream.checkpoint or str(_default_checkpoint(spec, home))
        self._queries: list[StreamingQuery] = []
        self._batches: list[_MicroBatches] = []

    def start(self) -> None:
        """Start a query for every frame that is written."""
        by_source: dict[str, list[Output]] = {}
        for output in self._spec.all_outputs:
            by_source.setdefault(output.source, []).append(output)
        for source, outputs in by_source.items():
            with named(outputs[0].location):
                self._start(source, outputs)

    def wait(self, check: Callable[[], None]) -> None:
        """Wait until all queries have ended; `check` is called periodically and may raise to stop waiting.

        Raises:
            StreamingQueryException: a query failed inside Spark.
            Exception: a sink's exception for a micro-batch.
        """
        waiting = list(self._queries)
        while waiting:
            check()
            try:
                waiting = [query for query in waiting if not query.awaitTermination(_POLL_S)]
            except Exception:
                self._raise_what_a_sink_raised()
                raise

    def stop(self) -> None:
        """Stop all queries; the next start repeats a micro-batch that was not committed."""
        for query in self._queries:
            query.stop()

    def _start(self, source: str, outputs: list[Output]) -> None:
        alone = outputs[0] if len(outputs) == 1 else None
        if alone is not None and isinstance(alone.writes, FileOutput):
            writer = self._writer(source, self._observer.watch_stream(self._frames[source]))
            self._queries.append(_to_files(writer, alone.writes))
        elif alone is not None and isinstance(alone.writes, IcebergOutput) and alone.writes.mode == "append":
            self._ready_table(source, alone.writes)
            writer = self._writer(source, self._frames[source])  # rows written are counted from the table's snapshots
            # By name: a column added while the stream ran is the last one in the table.
            writer = writer.option("check-ordering", "false").options(**alone.writes.options)
            self._queries.append(writer.toTable(quoted(alone.writes.table)))
        else:
            for output in outputs:
                if isinstance(output.writes, IcebergOutput):
                    self._ready_table(source, output.writes)
            self._queries.append(self._by_micro_batch(source, outputs))

    def _ready_table(self, source: str, writes: IcebergOutput) -> None:
        make_table(self._frames[source], writes)
        if self._schemas_grow:
            add_columns(self._frames[source], writes)

    @property
    def _schemas_grow(self) -> bool:
        """Whether an input's schema comes from a registry, and may get new columns."""
        return any(
            isinstance(one.reads, KafkaInput) and one.reads.schema_registry is not None
            for one in self._spec.inputs.values()
        )

    def _by_micro_batch(self, source: str, outputs: list[Output]) -> StreamingQuery:
        batches = _MicroBatches(outputs, self._observer)
        self._batches.append(batches)
        # With `update`, an aggregate outputs only the changed groups: right for a merge, and for nothing else.
        changed_rows = all(isinstance(one.writes, StdoutOutput) or _is_merge(one) for one in outputs)
        writer = self._writer(source, self._frames[source]).outputMode("update" if changed_rows else "append")
        query = writer.foreachBatch(batches.write).start()
        batches.begin(str(query.id))
        return query

    def _writer(self, source: str, frame: DataFrame) -> DataStreamWriter:
        writer = frame.writeStream.queryName(source)
        writer = writer.option("checkpointLocation", f"{self._checkpoints}/{quote(source, safe='')}")
        if self._spec.stream.available_now:
            return writer.trigger(availableNow=True)
        if self._spec.stream.interval is not None:
            return writer.trigger(processingTime=f"{round(self._spec.stream.interval * 1000)} milliseconds")
        return writer

    def _raise_what_a_sink_raised(self) -> None:
        for batches in self._batches:
            if batches.failure is not None:
                raise batches.failure


class _MicroBatches:
    """Writes the micro-batches of one query to its outputs; called by Spark on a py4j thread.

    Attributes:
        failure: a sink's exception; Spark passes on only its text.
    """

    def __init__(self, outputs: list[Output], observer: Observer) -> None:
        self._outputs = outputs
        self._observer = observer
        self._query_id = ""
        self._begun = threading.Event()
        self.failure: Exception | None = None

    def begin(self, query_id: str) -> None:
        """Set the query's id, which micro-batches wait for; the first one may be waiting already."""
        self._query_id = query_id
        self._begun.set()

    def write(self, frame: DataFrame, number: int) -> None:
        """Write a micro-batch to every output."""
        self._begun.wait()
        frame.persist()  # several outputs, or a single merge, read the rows more than once
        try:
            for output in self._outputs:
                with named(output.location):
                    self._write_one(frame, output, number)
        except Exception as failure:
            self.failure = failure
            raise
        finally:
            frame.unpersist()

    def _write_one(self, frame: DataFrame, output: Output, number: int) -> None:
        if isinstance(output.writes, IcebergOutput):
            session = frame.sparkSession
            session.conf.set(f"{SNAPSHOT_PROPERTY}.{_MICRO_BATCH}", f"{self._query_id} {number}")
            if not _is_merge(output) and _has_micro_batch(frame, output.writes, self._query_id, number):
                return
        rows = write(self._observer.watch(output, frame), output.writes)
        self._observer.wrote(output, rows)


def _to_files(writer: DataStreamWriter, writes: FileOutput) -> StreamingQuery:
    if writes.partition_by:
        writer = writer.partitionBy(*writes.partition_by)
    return writer.format(writes.format).options(**writes.options).start(writes.path)


def _is_merge(output: Output) -> bool:
    return isinstance(output.writes, IcebergOutput) and output.writes.mode == "merge"


def _has_micro_batch(frame: DataFrame, writes: IcebergOutput, query_id: str, number: int) -> bool:
    """Whether the table has this micro-batch already: the stream died between its commit and the stream checkpoint."""
    table = iceberg_table(frame.sparkSession, writes.table)
    if table is None:
        return False
    table.refresh()
    snapshot: Any = table.currentSnapshot()
    while snapshot is not None:
        query, _, written = str(snapshot.summary().get(_MICRO_BATCH) or "").partition(" ")
        if query == query_id:
            return int(written) >= number
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)
    return False


def _default_checkpoint(spec: PipelineSpec, home: Path) -> Path:
    return home.absolute() / "checkpoints" / quote(spec.namespace, safe="") / quote(spec.name, safe="")
