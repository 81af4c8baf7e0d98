"""Runs a pipeline once: the work on a thread of its own, supervised from the caller's thread.

The caller's thread waits on a mailbox, into which the work and any request to stop put messages. It cancels the work if
needed, and always reports how the run ended, even if the work hangs.
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
from headwater.pipeline.reporting.observer import NullObserver, Observer
from headwater.pipeline.spec import PipelineSpec
from headwater.pipeline.stop import EndReason, StopSignal
from headwater.pipeline.work import Ended, Work

log = logging.getLogger(__name__)

_CANCEL_AGAIN_S: Final = 0.5
_SIGNAL_MAY_FOLLOW_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The dependencies of a run.

    Attributes:
        put: takes an event, unsigned UTF-8 JSON; must neither block nor raise.
        now: returns the time, with a zone.
        new_run_id: returns a fresh UUID, preferably of version 7, in lower case.
        node_id: this machine's node id, as in its key id.
        progress: takes a short text at every stage of the work.
        stop_grace_s: how long a stopped run may take to end before it is abandoned.
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
        counters: None if lineage is off.
        error: a failed run's error, without record values.
        stop_reason: a stopped run's reason, as given by the request.
    """

    run_id: str
    state: TerminalState
    counters: Counters | None
    error: str | None = None
    stop_reason: str | None = None


def run_pipeline(
    spec: PipelineSpec,
    spark: SparkSession | Callable[[], SparkSession],
    context: RunContext,
    stop: StopSignal | None = None,
) -> RunResult:
    """Run a pipeline to its end, and report it.

    Args:
        spec: a spec from `check`.
        spark: the session whose JVM to use, or a function that opens one; it is left running.
        context: the run's dependencies.
        stop: stops the run once requested, from any thread or a signal handler.

    Returns:
        How the run ended; a failure is a result, not an exception.
    """
    stop = stop or StopSignal()
    execution = Execution(
        run_id=context.new_run_id(),
        started_at=context.now(),
        node_id=context.node_id,
        host=socket.gethostname(),
        home=context.home,
    )
    log.info("run starts", extra={"job": spec.name, "run_id": execution.run_id})
    promised: Future[Observer] = Future()
    work = Work(spec, spark, execution, promised, context.progress, stop)
    stop.listen(lambda: work.mailbox.put(None))
    work.start()
    observer = _observer(spec, execution, context, promised)
    ended = _supervised(work, observer, stop, spec.lineage.running_interval, context.stop_grace_s)
    result = _end_run(ended, observer, stop, execution.run_id)
    log.info("run ended", extra={"job": spec.name, "run_id": execution.run_id, "state": result.state})
    return result


def _observer(spec: PipelineSpec, execution: Execution, context: RunContext, promised: "Future[Observer]") -> Observer:
    """Create the observer and resolve the future: the work needs it once Spark has started."""
    try:
        observer = _made_observer(spec, execution, context)
    except BaseException as fault:
        promised.set_exception(fault)
        raise
    promised.set_result(observer)
    return observer


def _made_observer(spec: PipelineSpec, execution: Execution, context: RunContext) -> Observer:
    if not spec.lineage.enabled:
        return NullObserver()
    # Imported here: the OpenLineage client takes half a second. A run without lineage saves that, one with lineage
    # imports it while Spark starts.
    from headwater.pipeline.reporting.background import BackgroundObserver
    from headwater.pipeline.reporting.reporter import Reporter

    return BackgroundObserver(Reporter(spec, execution, home=context.home, now=context.now, put=context.put))


def _supervised(work: Work, observer: Observer, stop: StopSignal, interval_s: float, grace_s: float) -> Ended | None:
    """Wait for the work to end, reporting RUNNING meanwhile; None if it was asked to stop and did not."""
    while True:
        try:
            news = work.mailbox.get(timeout=interval_s)
        except Empty:
            observer.running()
            continue
        if news is None:
            return _cancel_until_ended(work, grace_s)
        if news.error is not None and failure_of(news.error).lost_jvm and stop.reason is None:
            # A signal to all processes of a service also kills the JVM, and its death may be noticed before the signal.
            _wait_for_stop(work.mailbox)
        return news


def _cancel_until_ended(work: Work, grace_s: float) -> Ended | None:
    """Cancel repeatedly until the work has ended; returns None after a second request to stop, or the grace period."""
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


def _end_run(ended: Ended | None, observer: Observer, stop: StopSignal, run_id: str) -> RunResult:
    """Report the end. Work that was completed before the stop reached it counts as complete."""
    if ended is not None and ended.error is None:
        return RunResult(
            run_id=run_id, state="COMPLETE", counters=observer.end("COMPLETE", EndReason("completed"), None)
        )
    if stop.why is not None:
        counters = observer.end("ABORT", stop.why, None)
        return RunResult(run_id=run_id, state="ABORT", counters=counters, stop_reason=stop.reason)
    failure = _failure(ended)
    return RunResult(
        run_id=run_id, state="FAIL", counters=observer.end("FAIL", EndReason("failed"), failure), error=failure.message
    )


def _failure(ended: Ended | None) -> Failure:
    if ended is None or ended.error is None:  # only a stop ends a run without either
        raise AssertionError("the work neither ended nor was stopped")
    return failure_of(ended.error)
