"""The work of a run, on a thread of its own: reads the inputs, moves the data, and cleans up in the JVM.

The work is a long series of calls into the JVM, each of which must be allowed to finish: an exception that a signal
handler raises within one leaves the connection to the JVM unusable. So it is cancelled through Spark, and its result
goes into a mailbox.
"""

import logging
import shutil
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from pyspark.sql import DataFrame, SparkSession

from headwater.observe.spark.jvm import activate, release_thread
from headwater.pipeline.batch import write_outputs
from headwater.pipeline.execution import Execution, fetched_folder
from headwater.pipeline.frames import all_frames, input_frames
from headwater.pipeline.kafka.signals import UnknownSchema, signal_in
from headwater.pipeline.kafka.topics import KnownTopics
from headwater.pipeline.reporting.observer import Observer
from headwater.pipeline.session import session_for
from headwater.pipeline.spec import Output, PipelineSpec
from headwater.pipeline.stop import StopSignal
from headwater.pipeline.stream import Streams

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """The work has ended, with or without an error."""

    error: BaseException | None


class Work:
    """The work of one run; `progress` takes a short text at every stage of it."""

    def __init__(  # a run's parts; each is used by its own step
        self,
        spec: PipelineSpec,
        spark: SparkSession | Callable[[], SparkSession],
        execution: Execution,
        observer: "Future[Observer]",
        progress: Callable[[str], None],
        stop: StopSignal,
    ) -> None:
        self._spec = spec
        self._spark = spark
        self._execution = execution
        self._observer = observer
        self._progress = progress
        self._stop = stop
        self._session: SparkSession | None = None
        self._streams: Streams | None = None
        self.mailbox: SimpleQueue[Ended | None] = SimpleQueue()

    def start(self) -> None:
        """Start; the mailbox gets an `Ended` when the work has ended."""
        threading.Thread(target=self._run, name=f"run-{self._execution.run_id}", daemon=True).start()

    def cancel(self) -> None:
        """Make Spark cancel its jobs for this run; returns at once, since Spark may take long."""
        threading.Thread(target=self._cancel, name="cancel-run", daemon=True).start()

    def _run(self) -> None:
        ended = Ended(None)
        try:
            self._steps()
        except BaseException as any_end:
            ended = Ended(any_end)  # the supervisor classifies it
        finally:
            self._rest()
            self.mailbox.put(ended)

    def _steps(self) -> None:
        self._stop.check()
        self._progress("starting Spark")
        base = self._spark() if callable(self._spark) else self._spark
        self._stop.check()
        session = session_for(self._spec, base, self._execution.home, self._execution.run_id)
        self._session = session
        activate(session)
        # Tags of the context, not the session: the latter can only be cancelled from the thread that set them.
        session.sparkContext.addJobTag(self._tag)
        session.sparkContext.setInterruptOnCancel(True)
        observer = self._observer.result()
        observer.begin(session)
        known = KnownTopics()
        while not self._moved(session, observer, known):
            self._progress("a topic has a new schema")

    def _moved(self, session: SparkSession, observer: Observer, known: KnownTopics) -> bool:
        """Move the data; False if a stream met records of a new schema, and must be restarted with it."""
        self._progress("reading inputs")
        inputs = input_frames(session, self._spec, known, self._fetched)
        frames = all_frames(session, self._spec, inputs, self._execution)
        self._stop.check()
        observer.planned(inputs.rows, frames, known.by_input)
        try:
            if self._spec.mode == "stream":
                self._follow(frames, observer)
            else:
                write_outputs(self._spec, frames, observer, self._before)
        except Exception as error:
            match signal_in(error):
                case UnknownSchema() as strange:
                    # If the registry does not have it either, it stays unknown, and the record becomes a dead letter.
                    known.unknown_ids.add((strange.topic, strange.schema_id))
                    return False
                case None:
                    raise
                case unreadable:
                    raise unreadable from error
        return True

    def _follow(self, frames: Mapping[str, DataFrame], observer: Observer) -> None:
        self._streams = Streams(self._spec, frames, observer, self._execution.home)
        try:
            self._streams.start()
            self._progress("streaming")
            self._streams.wait(self._stop.check)
            self._stop.check()
        finally:
            self._streams.stop()

    def _before(self, output: Output) -> None:
        self._stop.check()
        self._progress(f"writing {output.name or output.location.path}")

    def _cancel(self) -> None:
        session, streams = self._session, self._streams
        try:
            if streams is not None:
                streams.stop()
            if session is not None:
                session.sparkContext.cancelJobsWithTag(self._tag)
        except Exception as failure:
            log.warning("cannot cancel the Spark jobs of a run", extra={"error": type(failure).__name__})
        finally:
            release_thread()

    def _rest(self) -> None:
        """Clean up in the JVM; the session's views and configuration are dropped with it."""
        session = self._session
        try:
            if session is not None:
                session.sparkContext.clearJobTags()
                for view in session.catalog.listTables():
                    session.catalog.dropTempView(view.name)
        except Exception as failure:
            log.warning("cannot clean up after a run", extra={"error": type(failure).__name__})
        finally:
            shutil.rmtree(self._fetched, ignore_errors=True)
            release_thread()

    @property
    def _fetched(self) -> Path:
        """The folder of records fetched for this run, deleted when it ends."""
        return fetched_folder(self._execution.home, self._execution.run_id)

    @property
    def _tag(self) -> str:
        return f"headwater-{self._execution.run_id}"
