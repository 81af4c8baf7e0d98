"""How much a run has read and written, collected from Spark while it works."""

import re
import threading
from collections import defaultdict, deque
from collections.abc import Container, Iterable
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.observe.spark.executions import (
    JDBC_WRITE,
    OBSERVED_ROWS,
    Executions,
    Moved,
    Plans,
    file_write,
    observed_rows,
)
from headwater.observe.spark.tally import Tally, total
from headwater.pipeline.execution import Execution
from headwater.pipeline.reporting.snapshots import snapshots_of_run
from headwater.pipeline.reporting.streams import Progress
from headwater.pipeline.reporting.topics import SOURCE
from headwater.pipeline.spec import (
    FileInput,
    FileOutput,
    GenerateInput,
    HttpOutput,
    IcebergInput,
    IcebergOutput,
    InputKind,
    KafkaInput,
    KafkaOutput,
    Output,
    PipelineSpec,
    SqlOutput,
)

_FILES_FOLLOWED = re.compile(r"File(?:Stream)?Source\[(?:file:/*(?=/))?(?P<path>.*)\]")


class RunFigures:
    """The figures of one run; created once its frames are planned, before anything is written.

    Attributes:
        versions: the snapshot that the run last wrote to a table, by the output's path in the pipeline file.
    """

    def __init__(self, session: SparkSession, spec: PipelineSpec, execution: Execution) -> None:
        self._session = session
        self._spec = spec
        self._execution = execution
        self._tally = Tally()
        self._lock = threading.RLock()
        self._executions: dict[str, Executions] = {}
        aside = frozenset(one.source for one in spec.dead_letters)
        self._progress = Progress(session, aside) if spec.mode == "stream" else None
        self._tables = {
            one.location.path: one.writes for one in spec.all_outputs if isinstance(one.writes, IcebergOutput)
        }
        self._observations = {
            one.location.path: f"{OBSERVED_ROWS}_{number}"
            for number, one in enumerate(spec.outputs)
            if isinstance(one.writes, SqlOutput)
        }
        # Writes to files come in the order of the outputs, but Spark reports them without the output.
        self._files_awaited: defaultdict[str, deque[str]] = defaultdict(deque)
        self._files_written: defaultdict[str, deque[Moved]] = defaultdict(deque)
        self._counted_to: dict[str, int] = {}
        self._uncounted: set[str] = set()
        self.versions: dict[str, int] = {}

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame to write, with its rows counted if neither the sink's metrics nor a snapshot report them."""
        self._listen(output, frame.sparkSession)
        if isinstance(output.writes, KafkaOutput):
            self._uncounted.add(output.location.path)
        observation = self._observations.get(output.location.path)
        return frame if observation is None else _observed(frame, observation)

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame for a streaming query, with its rows counted in the query's progress."""
        return _observed(frame, OBSERVED_ROWS)

    def wrote(self, output: Output, rows: int | None) -> None:
        """Count what was written to an output, or by a micro-batch of it."""
        path, thread = output.location.path, self._thread_of(output)
        with self._lock:
            if rows is not None:
                self._tally.add_write(path, Moved(rows=rows))
            elif isinstance(output.writes, FileOutput | HttpOutput):  # rows to send are written to files first
                self._files_awaited[thread].append(path)
            self._count_executions(thread)
            if path in self._tables:
                self._count_snapshots(path)

    def refresh(self) -> None:
        """Count what streaming queries have committed to tables by themselves."""
        if self._progress is not None:
            self._session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10_000)
            with self._lock:
                for path in self._tables:
                    self._count_snapshots(path)

    def read(self, source: str) -> Moved | None:
        """How much was read of a relation's source; None if unknown."""
        if self._progress is None:
            return self._tally.read.get(source)
        rows = self._progress.rows_in()
        followed = [one.reads for one in self._spec.inputs.values() if _is_followed(one.reads)]
        if len(rows) == 1 and len(followed) == 1 and _is_of(source, followed[0]):
            return Moved(rows=sum(rows.values()))
        wanted = _followed_files(source)
        exact = [count for description, count in rows.items() if wanted and _followed_files(description) == wanted]
        return Moved(rows=sum(exact)) if exact else None

    def written(self, output: Output) -> Moved | None:
        """How much was written to an output; None if unknown."""
        known = self._tally.written.get(output.location.path)
        if known is None and self._progress is not None and isinstance(output.writes, FileOutput):
            return Moved(rows=self._progress.rows_out().get(output.source, 0))
        return known

    def totals(self, sources: Container[str]) -> tuple[Moved, Moved]:
        """The totals read of the given sources (a merge also scans its target), and written."""
        out = _total(self.written(output) or self._unreported(output) for output in self._spec.outputs)
        if self._progress is not None:
            return Moved(sum(self._progress.rows_in().values())), out
        return _total(scan for source, scan in self._tally.read.items() if source in sources), out

    def _unreported(self, output: Output) -> Moved:
        """Of an output for which Spark reports nothing: nothing was written yet, or nobody knows how much."""
        return Moved() if output.location.path in self._uncounted else Moved(0, 0)

    def dead_letters(self) -> int:
        """The number of unreadable records written as dead letters."""
        figures = (self.written(output) for output in self._spec.dead_letters)
        return sum(moved.rows or 0 for moved in figures if moved is not None)

    def stream_sources(self) -> list[dict[str, object]]:
        """The progress of the stream's sources; empty for a batch."""
        return [] if self._progress is None else self._progress.sources()

    def close(self) -> None:
        """Stop listening to Spark."""
        for executions in self._executions.values():
            executions.close()
        if self._progress is not None:
            self._progress.close()

    def _listen(self, output: Output, session: SparkSession) -> None:
        """Listen to the session that writes; earlier executions in it, for instance to infer a schema, do not count."""
        thread = self._thread_of(output)
        with self._lock:
            if thread not in self._executions:
                self._executions[thread] = Executions(session)
                self._executions[thread].take()

    def _thread_of(self, output: Output) -> str:
        """The key of the writing session: a batch writes in one, each query of a stream in its own."""
        return "" if self._progress is None else output.source

    def _count_executions(self, thread: str) -> None:
        for called, execution in self._executions[thread].take():
            plan = execution.executedPlan()
            if self._progress is None:
                for source, scan in self._plans.scans(plan):
                    self._tally.add_scan(source, scan)
            if (files := file_write(plan)) is not None:
                self._files_written[thread].append(files)
            if called == JDBC_WRITE:
                for path, observation in self._observations.items():
                    self._tally.add_write(path, Moved(rows=observed_rows(execution, observation)))
        while self._files_awaited[thread] and self._files_written[thread]:
            self._tally.add_write(self._files_awaited[thread].popleft(), self._files_written[thread].popleft())

    def _count_snapshots(self, path: str) -> None:
        table, streaming = self._tables[path].table, self._progress is not None
        known = self._counted_to.get(table)
        snapshots = snapshots_of_run(self._session, table, self._execution, known, streaming=streaming)
        if snapshots:
            self._counted_to[table] = self.versions[path] = snapshots[0].id
        for snapshot in snapshots:
            self._tally.add_write(path, snapshot.moved)

    @cached_property
    def _plans(self) -> Plans:
        return Plans(self._session)


def _observed(frame: DataFrame, observation: str) -> DataFrame:
    return frame.observe(observation, F.count(F.lit(1)).alias(OBSERVED_ROWS))


def _total(figures: Iterable[Moved]) -> Moved:
    moved = list(figures)
    return Moved(total(one.rows for one in moved), total(one.bytes for one in moved))


def _is_followed(reads: InputKind) -> bool:
    match reads:
        case FileInput() | IcebergInput() | KafkaInput():
            return not reads.static
        case GenerateInput():
            return reads.rows_per_second is not None
        case _:
            return False


def _is_of(source: str, followed: InputKind) -> bool:
    """Whether a relation reads the stream's own input, not data that it is joined with (see `relations`)."""
    match followed:
        case IcebergInput(table=table):
            return source.startswith("table:") and f".{source.removeprefix('table:')}".endswith(f".{table}")
        case KafkaInput():
            return source.startswith(SOURCE)
        case _:
            return source.startswith("stream:")


def _followed_files(source: str) -> str | None:
    """The path in `FileSource[PATH]`, as in a plan, or `FileStreamSource[PATH]`, as in a query's progress."""
    found = _FILES_FOLLOWED.search(source)
    return found["path"].rstrip("/") if found else None
