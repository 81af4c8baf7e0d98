"""Run a checked pipeline once: its work on a thread of its own, its events and its end from here.

The caller's thread only waits, on a mailbox that the work, and any request to stop, drop a note into; it has the work
cancelled and always tells how the run ended, even where the work hangs.
"""

import logging
import socket
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from pyspark.sql import SparkSession

from headwater.model.facts import TerminalState
from headwater.observe.counters import Counters
from headwater.observe.failure import Failure
from headwater.observe.spark.failure import failure_of
from headwater.pipeline.execution import Execution
from headwater.pipeline.spec import PipelineSpec
from headwater.pipeline.stop import StopSignal, Why
from headwater.pipeline.telling.observer import Observer, Silent
from headwater.pipeline.work import Ended, Work

log = logging.getLogger(__name__)

_CANCEL_AGAIN_S: Final = 0.5
_SIGNAL_MAY_FOLLOW_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
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
    state: TerminalState
    counters: Counters | None
    error: str | None = None
    stop_reason: str | None = None


def run_pipeline(
    spec: PipelineSpec,
    spark: SparkSession | Callable[[], SparkSession],
    around: RunContext,
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
    work = Work(spec, spark, execution, promised, around.progress, stop)
    stop.listen(lambda: work.mailbox.put(None))
    work.start()
    observer = _observer(spec, execution, around, promised)
    ended = _supervised(work, observer, stop, spec.lineage.running_interval, around.stop_grace_s)
    result = _told(ended, observer, stop, execution.run_id)
    log.info("run ended", extra={"job": spec.name, "run_id": execution.run_id, "state": result.state})
    return result


def _observer(spec: PipelineSpec, execution: Execution, around: RunContext, promised: "Future[Observer]") -> Observer:
    """Make the observer and keep the promise: the work comes to need it once Spark has started."""
    try:
        observer = _made_observer(spec, execution, around)
    except BaseException as fault:
        promised.set_exception(fault)
        raise
    promised.set_result(observer)
    return observer


def _made_observer(spec: PipelineSpec, execution: Execution, around: RunContext) -> Observer:
    if not spec.lineage.enabled:
        return Silent()
    # Here, not above: the OpenLineage client takes half a second to import. A run without lineage does without it, one
    # with it imports it while Spark starts.
    from headwater.pipeline.telling.aside import Aside
    from headwater.pipeline.telling.teller import Teller

    return Aside(Teller(spec, execution, home=around.home, now=around.now, put=around.put))


def _supervised(work: Work, observer: Observer, stop: StopSignal, interval_s: float, grace_s: float) -> Ended | None:
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


def _brought_to_rest(work: Work, grace_s: float) -> Ended | None:
    """Cancel until the work has ended; a second request to stop, or the end of the grace, ends the waiting."""
    for _ in range(max(1, round(grace_s / _CANCEL_AGAIN_S))):
        work.cancel()
        try:
            return work.mailbox.get(timeout=_CANCEL_AGAIN_S)
        except Empty:
            continue
    return None


def _wait_for_stop(mailbox: "SimpleQueue[Ended | None]") -> None:
    try:
        mailbox.get(timeout=_SIGNAL_MAY_FOLLOW_S)
    except Empty:
        return


def _told(ended: Ended | None, observer: Observer, stop: StopSignal, run_id: str) -> RunResult:
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


def _failure(ended: Ended | None) -> Failure:
    if ended is None or ended.error is None:  # only a stop ends a run without either
        raise AssertionError("the work neither ended nor was stopped")
    return failure_of(ended.error)
