"""Runs that a Python program reports about itself: START, RUNNING, then exactly one terminal event."""

import atexit
import math
import os
import threading
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from openlineage.client.event_v2 import Job, RunState
from openlineage.client.facet_v2 import job_type_job

from headwater.emission import new_run_id, opened_emitter
from headwater.emit.emitter import Emitter
from headwater.errors import HeadwaterError
from headwater.model.build import HeadwaterRunFacet
from headwater.model.names import JobId
from headwater.observe.dataset_arguments import Dataset, described_datasets, plain_name
from headwater.observe.described import Described
from headwater.observe.failure import Failure, is_exit, python_message, python_trace
from headwater.observe.run_facets import failure_facet
from headwater.observe.run_reporter import Content, EventOutput, RunReporter
from headwater.observe.signals import SignalCallbacks, Signals
from headwater.observe.threads import ObserverThread

_STOPPED: Final[Mapping[type[BaseException], str]] = {
    KeyboardInterrupt: "SIGINT",
    CancelledError: "cancelled",
    GeneratorExit: "closed",
}
"""Exceptions that stop the block from outside, with the stop reason. In asyncio Ctrl-C cancels the task."""
_DRAIN_UNREACHED_S: Final = 0.5
_unreached: Final[set[tuple[str, ...]]] = set()
"""Targets that did not take this process's last run in time: only the first of many runs waits long for them."""


def run(
    job: str,
    *,
    namespace: str = "default",
    inputs: Dataset | Iterable[Dataset] = (),
    outputs: Dataset | Iterable[Dataset] = (),
    endpoint: str | None = None,
    file: str | Path | None = None,
    token_env: str | None = None,
    running_every_s: float = 60,
) -> "ExplicitRun":
    """A run of a job, for a `with` statement: START when the block begins, a terminal event when it ends.

    COMPLETE if the block ends normally, FAIL if it raises. ABORT on Ctrl-C, on SIGTERM (unless the program ignores or
    handles it), when its asyncio task is cancelled or its generator closed, when the program exits inside the block,
    and when the block calls `abort`. Events are signed and spooled; none of them can block the program. A process that
    the block forks reports nothing of the run.

    Args:
        job: the job's name.
        namespace: the job's namespace.
        inputs: the datasets read, one or several, as far as known in advance; add more with `reads`.
        outputs: the datasets written; add more with `writes`.
        endpoint: where events are posted; a service on this machine if neither an endpoint nor a file is given.
        file: a file to append events to.
        token_env: the environment variable that holds the endpoint's bearer token.
        running_every_s: seconds between two RUNNING events.

    Raises:
        InvalidNameError: the name of the job, its namespace or a dataset is empty, cannot be read or holds a password.
        TypeError: a dataset is neither a string nor a pair of strings.
        ValueError: `running_every_s` is not more than 0.
        InvalidInputError: the endpoint is not an http(s) URL, or holds credentials.
        SetupError: this machine's key cannot be read or created.
    """
    if not running_every_s > 0:
        raise ValueError(f"running_every_s: expected more than 0 seconds, found {running_every_s}")
    named = JobId(plain_name("namespace", namespace), plain_name("job", job))
    flows = Flows(described_datasets("inputs", inputs), described_datasets("outputs", outputs))
    opened = partial(opened_emitter, endpoint, file, token_env)
    return ExplicitRun(named, flows, opened, running_every_s, lambda: datetime.now(UTC))


class Flows(NamedTuple):
    """The datasets that a run reads and writes, as far as known in advance."""

    inputs: Iterable[Described]
    outputs: Iterable[Described]


class ExplicitRun:
    """A run inside its `with` block.

    Attributes:
        run_id: to pass to jobs that the block starts, as their parent run.
    """

    def __init__(
        self,
        job: JobId,
        flows: Flows,
        opened: Callable[[], Emitter],
        running_every_s: float,
        now: Callable[[], datetime],
    ) -> None:
        """Nothing is sent before the block begins."""
        self.run_id = new_run_id()
        self._job = job
        self._opened = opened
        self._running_every_s = running_every_s
        self._now = now
        self._inputs = {one.id: one for one in flows.inputs}
        self._outputs = {one.id: one for one in flows.outputs}
        self._stop_reason: str | None = None
        self._process: int | None = None
        self._over = threading.Event()

    def reads(self, *datasets: Dataset) -> None:
        """Add inputs; the next event names them."""
        self._inputs |= {one.id: one for one in described_datasets("reads", datasets)}

    def writes(self, *datasets: Dataset) -> None:
        """Add outputs; the next event names them."""
        self._outputs |= {one.id: one for one in described_datasets("writes", datasets)}

    def running(self) -> None:
        """Send a RUNNING event now, besides the periodic ones."""
        if self._process == os.getpid():
            self._reporter.emit(RunState.RUNNING, self._content(None))

    def abort(self, reason: str) -> None:
        """End the run as ABORT when the block ends, unless the block raises."""
        self._stop_reason = reason

    def __enter__(self) -> Self:
        """Send START.

        Raises:
            RuntimeError: the run was started before: each object stands for one run.
        """
        if self._process is not None:
            raise RuntimeError("this run was already started: call headwater.run again for another")
        self._emitter = self._opened()
        self._started_at = self._now()
        kind = job_type_job.JobTypeJobFacet(processingType="BATCH", integration="HEADWATER", jobType="RUN")
        job = Job(namespace=self._job.namespace, name=self._job.name, facets={"jobType": kind})
        out = EventOutput(self._now, self._emitter.put)
        self._reporter = RunReporter(job, self.run_id, self._started_at, {}, out)
        self._process = os.getpid()
        self._signals = Signals(SignalCallbacks(self.abort, self._stopped, self._emitter.close))
        atexit.register(self._left_open)
        self._reporter.emit(RunState.START, self._content(None))
        ObserverThread(self._emit_running, "headwater-run").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Send the terminal event; an exception of the block propagates.

        In a process that the block forked, nothing is sent: the run's threads and its end belong to the parent.
        """
        if self._process != os.getpid():
            return
        for what, reason in _STOPPED.items():
            if isinstance(error, what):
                self._stop_reason = self._stop_reason or reason
                error = None
        try:
            self._end(None if is_exit(error) else error)
        finally:
            self._signals.restore()

    def _end(self, error: BaseException | None) -> None:
        self._over.set()
        atexit.unregister(self._left_open)
        if not self._reporter.over:
            failure = None if error is None or self._signals.reason else _failure(error)
            ended = RunState.COMPLETE if self._stop_reason is None else RunState.ABORT
            self._reporter.emit(RunState.FAIL if failure else ended, self._content(failure))
        self._deliver()

    def _deliver(self) -> None:
        to = self._emitter.targets
        self._emitter.close(_DRAIN_UNREACHED_S if to in _unreached else math.inf)
        (_unreached.discard if self._emitter.is_empty else _unreached.add)(to)

    def _stopped(self, _: str) -> None:
        """Send ABORT at once, without waiting for the thread that runs the block."""
        self._reporter.emit(RunState.ABORT, self._content(None))

    def _left_open(self) -> None:
        """Send ABORT at exit, if the block is still open in a daemon thread or in a generator that was never closed."""
        if self._process == os.getpid():
            self._over.set()
            self._stop_reason = self._stop_reason or "exit"
            self._reporter.emit(RunState.ABORT, self._content(None))

    def _emit_running(self) -> None:
        while not self._over.wait(min(self._running_every_s, threading.TIMEOUT_MAX)):
            self.running()

    def _content(self, failure: Failure | None) -> Content:
        facets = {} if failure is None else {"errorMessage": failure_facet(failure)}
        lasted = self._now() - self._started_at
        counters = HeadwaterRunFacet(
            recordsIn=None,
            recordsOut=None,
            bytesIn=None,
            bytesOut=None,
            errorCount=0 if failure is None else 1,
            durationMs=max(0, round(lasted.total_seconds() * 1000)),  # a clock may be set back
            stopReason=None if failure else self._stop_reason,
        )
        return Content({**facets, "headwater_run": counters}, list(self._inputs.values()), list(self._outputs.values()))


def _failure(error: BaseException) -> Failure:
    """An exception's class and place; its message only if it is one of our errors, since others may hold values."""
    message = str(error) if isinstance(error, HeadwaterError) else python_message(error)
    return Failure(message, python_trace(error), "PYTHON")
