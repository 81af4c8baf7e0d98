"""An observer that works on a thread of its own, while the pipeline goes on.

Determining a run's lineage takes many small calls into the JVM. Most of them can be made while Spark processes data, so
the pipeline waits only where it must: until rows are counted from the first one on, and at the end for the last event.
"""

import logging
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from headwater.model.facts import TerminalState
from headwater.observe.counters import Counters
from headwater.observe.failure import Failure
from headwater.observe.spark.jvm import activate, release_thread
from headwater.observe.threads import ObserverThread
from headwater.pipeline.kafka.topics import Topic
from headwater.pipeline.reporting.reporter import Reporter
from headwater.pipeline.spec import Output
from headwater.pipeline.stop import EndReason

log = logging.getLogger(__name__)

_PATIENCE_S: Final = 10.0
"""How long the end of a run waits for unfinished lineage; then the last event is emitted without it."""


class BackgroundObserver:
    """An `Observer` that queues its calls for a `Reporter` on one thread, in order, which ends with the run.

    `watch` and `watch_stream` are answered at once; the other calls queue a task and return.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._tasks: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._thread = ObserverThread(self._work, "headwater-lineage")
        self._thread.start()

    def begin(self, session: SparkSession | None) -> None:
        """Queue the START event, with what Spark, if there is one, knows about the datasets."""
        if session is not None:
            self._tasks.put(lambda: activate(session))
        self._tasks.put(lambda: self._reporter.begin(session))

    def planned(
        self, inputs: Mapping[str, DataFrame], frames: Mapping[str, DataFrame], topics: Mapping[str, tuple[Topic, ...]]
    ) -> None:
        """Count rows from here on; queue the analysis of the frames' inputs and column lineage."""
        self._reporter.ready_to_count(next(iter(frames.values())).sparkSession)
        self._tasks.put(lambda: self._reporter.planned(inputs, frames, topics))

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame to write in place of this one, at once."""
        return self._reporter.watch(output, frame)

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame to write in place of this one, at once."""
        return self._reporter.watch_stream(frame)

    def wrote(self, output: Output, rows: int | None) -> None:
        """Queue a write, for the counters."""
        self._tasks.put(lambda: self._reporter.wrote(output, rows))

    def running(self) -> None:
        """Queue a RUNNING event, unless other tasks are waiting."""
        if self._tasks.empty():
            self._tasks.put(self._reporter.running)

    def end(self, state: TerminalState, why: EndReason, failure: Failure | None) -> Counters | None:
        """Wait until the thread has done all tasks and emitted the last event; returns the counters.

        If the thread is blocked in Spark for longer than `_PATIENCE_S`, the last event is emitted from here, without
        the rest.
        """
        ended: SimpleQueue[Counters] = SimpleQueue()
        self._tasks.put(lambda: ended.put(self._reporter.end(state, why, failure)))
        self._tasks.put(None)
        self._thread.join(_PATIENCE_S)
        if ended.empty():
            log.warning("lineage is incomplete: Spark does not respond", extra={"state": state})
            return self._reporter.end_without_spark(state, why, failure)
        return ended.get()

    def _work(self) -> None:
        try:
            while (task := self._tasks.get()) is not None:
                try:
                    task()
                except Exception as fault:
                    log.warning("lineage observation failed", extra={"error": type(fault).__name__})
        finally:
            release_thread()
