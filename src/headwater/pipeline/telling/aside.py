"""An observer that works aside: on a thread of its own, while the pipeline goes on.

What there is to learn of a run takes many small calls into the JVM. Most of it can be learned while Spark is busy with
the data, so the pipeline waits only where it must: for its rows to be counted from the first, and at the end, for the
last event.
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
from headwater.pipeline.spec import Output
from headwater.pipeline.stop import Why
from headwater.pipeline.telling.teller import Teller

log = logging.getLogger(__name__)

_PATIENCE_S: Final = 10.0
"""How long the end of a run waits for what is still being learned; then the last event goes out without it."""


class Aside:
    """The `Observer` that has a `Teller` do the work, call by call in order, on one thread that ends with the run.

    `watch` and `watch_stream` answer at once; the other calls leave a task for the thread and return.
    """

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._tasks: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._thread = ObserverThread(self._work, "headwater-lineage")
        self._thread.start()

    def begin(self, session: SparkSession | None) -> None:
        """Leave to the thread: the START event, with what Spark, if there is one, says about the datasets."""
        if session is not None:
            self._tasks.put(lambda: activate(session))
        self._tasks.put(lambda: self._teller.begin(session))

    def planned(
        self, inputs: Mapping[str, DataFrame], frames: Mapping[str, DataFrame], topics: Mapping[str, tuple[Topic, ...]]
    ) -> None:
        """Have rows be counted from here on; leave to the thread what the frames read and how columns hang together."""
        self._teller.ready_to_count(next(iter(frames.values())).sparkSession)
        self._tasks.put(lambda: self._teller.planned(inputs, frames, topics))

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame to write in place of this one, at once."""
        return self._teller.watch(output, frame)

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame to write in place of this one, at once."""
        return self._teller.watch_stream(frame)

    def wrote(self, output: Output, rows: int | None) -> None:
        """Leave to the thread: what was written, for the counters."""
        self._tasks.put(lambda: self._teller.wrote(output, rows))

    def running(self) -> None:
        """Leave to the thread: a RUNNING event, unless other things wait to be told already."""
        if self._tasks.empty():
            self._tasks.put(self._teller.running)

    def end(self, state: TerminalState, why: Why, failure: Failure | None) -> Counters | None:
        """Wait until the thread has told all before and the last event; returns what was counted.

        If Spark holds the thread up for longer than `_PATIENCE_S`, the last event goes out from here, without the rest.
        """
        ended: SimpleQueue[Counters] = SimpleQueue()
        self._tasks.put(lambda: ended.put(self._teller.end(state, why, failure)))
        self._tasks.put(None)
        self._thread.join(_PATIENCE_S)
        if ended.empty():
            log.warning("lineage is incomplete: Spark does not answer", extra={"state": state})
            return self._teller.end_without_spark(state, why, failure)
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
