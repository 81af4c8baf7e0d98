"""Run a checked pipeline once: its work on a thread of its own, its events and its end from here.

The work is one long series of calls into the JVM, each of which must be let finish: an exception that a signal handler
raises in the middle of one leaves the connection to the JVM unusable. So the caller's thread only waits, on a mailbox
that the work, and any request to stop, drop a note into; it cancels what Spark is doing and always tells how the run
ended, even where the work hangs.
"""

import logging
import shutil
import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from headwater.observe.counters import Counters
from headwater.observe.failure import Failure
from headwater.observe.spark.failure import failure_of
from headwater.observe.spark.jvm import activate, release_thread
from headwater.pipeline.batch import write_outputs
from headwater.pipeline.execution import Execution, fetched_folder
from headwater.pipeline.frames import all_frames, input_frames
from headwater.pipeline.kafka.signals import StrangeSchema, signal_in
from headwater.pipeline.kafka.topics import KnownTopics
from headwater.pipeline.session import session_for
from headwater.pipeline.spec import Output, PipelineSpec
from headwater.pipeline.stop import StopSignal, Why
from headwater.pipeline.stream import Streams
from headwater.pipeline.telling.observer import EndState, Observer, Silent

log = logging.getLogger(__name__)

_CANCEL_AGAIN_S: Final = 0.5
_SIGNAL_MAY_FOLLOW_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a run is given from outside.

    Attributes:
        put: takes an event, unsigned UTF-8 JSON; must neither block nor raise.
        now: the time, with a zone.
        new_run_id: a fresh UUID, best of version 7, in lower case.
        node_id: of this machine, as in its key id.
        progress: takes a short text at every stage of the work.
        stop_grace_s: how long a stopped run may take to come to rest before it is left to itself.
    """

    home: Path
    put: Callable[[bytes], None]
    now: Callable[[], datetime]
    new_run_id: Callable[[], str]
    node_id: str
    progress: Callable[[str], None] = lambda _: None
    stop_grace_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended.

    Attributes:
        counters: None where lineage is off.
        error: of a failed run, without record values.
        stop_reason: of a stopped run, as the request to stop gave it.
    """

    run_id: str
    state: EndState
    counters: Counters | None
    error: str | None = None
    stop_reason: str | None = None


def run_pipeline(
    spec: PipelineSpec,
    spark: SparkSession | Callable[[], SparkSession],
    around: Surroundings,
    stop: StopSignal | None = None,
) -> RunResult:
    """Run a pipeline to its end, and tell about it.

    Args:
        spec: as `check` gives it.
        spark: the session whose JVM to use, or what makes one; it is left running.
        around: clock, ids, and where events go.
        stop: asks the run to stop when it is requested, from any thread or a signal handler.

    Returns:
        The end, whatever it was: a failure is a result too.
    """
    stop = stop or StopSignal()
    execution = Execution(
        run_id=around.new_run_id(),
        started_at=around.now(),
        node_id=around.node_id,
        host=socket.gethostname(),
        home=around.home,
    )
    log.info("run starts", extra={"job": spec.name, "run_id": execution.run_id})
    promised: Future[Observer] = Future()
    work = _Work(spec, spark, execution, promised, around, stop)
    stop.listen(lambda: work.mailbox.put(None))
    work.start()
    observer = _observer(spec, execution, around, promised)
    ended = _supervised(work, observer, stop, spec.lineage.running_interval, around.stop_grace_s)
    result = _told(ended, observer, stop, execution.run_id)
    log.info("run ended", extra={"job": spec.name, "run_id": execution.run_id, "state": result.state})
    return result


def _observer(spec: PipelineSpec, execution: Execution, around: Surroundings, promised: "Future[Observer]") -> Observer:
    """Make the observer and keep the promise: the work comes to need it once Spark has started."""
    try:
        observer = _made_observer(spec, execution, around)
    except BaseException as fault:
        promised.set_exception(fault)
        raise
    promised.set_result(observer)
    return observer


def _made_observer(spec: PipelineSpec, execution: Execution, around: Surroundings) -> Observer:
    if not spec.lineage.enabled:
        return Silent()
    # Here, not above: the OpenLineage client takes half a second to import. A run without lineage does without it, one
    # with it imports it while Spark starts.
    from headwater.pipeline.telling.aside import Aside
    from headwater.pipeline.telling.teller import Teller

    return Aside(Teller(spec, execution, home=around.home, now=around.now, put=around.put))


@dataclass(frozen=True, slots=True)
class _Ended:
    """The work has come to rest: with an error, or without."""

    error: BaseException | None


class _Work:
    """What a run does, on a thread of its own."""

    def __init__(  # a run's parts; each is used by its own step
        self,
        spec: PipelineSpec,
        spark: SparkSession | Callable[[], SparkSession],
        execution: Execution,
        observer: "Future[Observer]",
        around: Surroundings,
        stop: StopSignal,
    ) -> None:
        self._spec = spec
        self._spark = spark
        self._execution = execution
        self._observer = observer
        self._around = around
        self._stop = stop
        self._session: SparkSession | None = None
        self._streams: Streams | None = None
        self.mailbox: SimpleQueue[_Ended | None] = SimpleQueue()

    def start(self) -> None:
        """Begin; the mailbox gets an `_Ended` when the work is over."""
        threading.Thread(target=self._run, name=f"run-{self._execution.run_id}", daemon=True).start()

    def cancel(self) -> None:
        """Make Spark drop what it is doing for this run; returns at once, since Spark may take its time."""
        threading.Thread(target=self._cancel, name="cancel-run", daemon=True).start()

    def _run(self) -> None:
        ended = _Ended(None)
        try:
            self._steps()
        except BaseException as any_end:
            ended = _Ended(any_end)  # the supervisor classifies it
        finally:
            self._rest()
            self.mailbox.put(ended)

    def _steps(self) -> None:
        self._stop.check()
        self._around.progress("starting Spark")
        base = self._spark() if callable(self._spark) else self._spark
        self._stop.check()
        session = session_for(self._spec, base, self._around.home, self._execution.run_id)
        self._session = session
        activate(session)
        # The context's tags, not the session's: those can only be cancelled from the thread that set them.
        session.sparkContext.addJobTag(self._tag)
        session.sparkContext.setInterruptOnCancel(True)
        observer = self._observer.result()
        observer.begin(session)
        known = KnownTopics()
        while not self._moved(session, observer, known):
            self._around.progress("a topic has a new schema")

    def _moved(self, session: SparkSession, observer: Observer, known: KnownTopics) -> bool:
        """Move the data; False where a stream came to records of a new schema, and is to go on with that."""
        self._around.progress("reading inputs")
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
                case StrangeSchema() as strange:
                    # Should the registry not have it either, it stays strange, and the record goes to the dead letters.
                    known.strange_ids.add((strange.topic, strange.schema_id))
                    return False
                case None:
                    raise
                case unreadable:
                    raise unreadable from error
        return True

    def _follow(self, frames: Mapping[str, DataFrame], observer: Observer) -> None:
        self._streams = Streams(self._spec, frames, observer, self._around.home)
        try:
            self._streams.start()
            self._around.progress("streaming")
            self._streams.wait(self._stop.check)
            self._stop.check()
        finally:
            self._streams.stop()

    def _before(self, output: Output) -> None:
        self._stop.check()
        self._around.progress(f"writing {output.name or output.place.path}")

    def _cancel(self) -> None:
        session, streams = self._session, self._streams
        try:
            if streams is not None:
                streams.stop()
            if session is not None:
                session.sparkContext.cancelJobsWithTag(self._tag)
        except Exception as failure:
            log.warning("Spark could not be told to stop", extra={"error": type(failure).__name__})
        finally:
            release_thread()

    def _rest(self) -> None:
        """Leave nothing in the JVM; the session's views and configuration go with it."""
        session = self._session
        try:
            if session is not None:
                session.sparkContext.clearJobTags()
                for view in session.catalog.listTables():
                    session.catalog.dropTempView(view.name)
        except Exception as failure:
            log.warning("a run could not be tidied up", extra={"error": type(failure).__name__})
        finally:
            shutil.rmtree(self._fetched, ignore_errors=True)
            release_thread()

    @property
    def _fetched(self) -> Path:
        """What is fetched for this run, and goes with it."""
        return fetched_folder(self._around.home, self._execution.run_id)

    @property
    def _tag(self) -> str:
        return f"headwater-{self._execution.run_id}"


def _supervised(work: _Work, observer: Observer, stop: StopSignal, interval_s: float, grace_s: float) -> _Ended | None:
    """Wait for the work to end, telling RUNNING meanwhile; None where it was told to stop and did not."""
    while True:
        try:
            news = work.mailbox.get(timeout=interval_s)
        except Empty:
            observer.running()
            continue
        if news is None:
            return _brought_to_rest(work, grace_s)
        if news.error is not None and failure_of(news.error).lost_jvm and stop.reason is None:
            # A signal to all processes of a service kills the JVM too, and its death may be seen before the signal.
            _wait_for_stop(work.mailbox)
        return news


def _brought_to_rest(work: _Work, grace_s: float) -> _Ended | None:
    """Cancel until the work has ended; a second request to stop, or the end of the grace, ends the waiting."""
    for _ in range(max(1, round(grace_s / _CANCEL_AGAIN_S))):
        work.cancel()
        try:
            return work.mailbox.get(timeout=_CANCEL_AGAIN_S)
        except Empty:
            continue
    return None


def _wait_for_stop(mailbox: "SimpleQueue[_Ended | None]") -> None:
    try:
        mailbox.get(timeout=_SIGNAL_MAY_FOLLOW_S)
    except Empty:
        return


def _told(ended: _Ended | None, observer: Observer, stop: StopSignal, run_id: str) -> RunResult:
    """Tell the end. Work that was done before the stop reached it is complete."""
    if ended is not None and ended.error is None:
        return RunResult(run_id=run_id, state="COMPLETE", counters=observer.end("COMPLETE", Why("completed"), None))
    if stop.why is not None:
        counters = observer.end("ABORT", stop.why, None)
        return RunResult(run_id=run_id, state="ABORT", counters=counters, stop_reason=stop.reason)
    failure = _failure(ended)
    return RunResult(
        run_id=run_id, state="FAIL", counters=observer.end("FAIL", Why("failed"), failure), error=failure.message
    )


def _failure(ended: _Ended | None) -> Failure:
    if ended is None or ended.error is None:  # only a stop ends a run without either
        raise AssertionError("the work neither ended nor was stopped")
    return failure_of(ended.error)
