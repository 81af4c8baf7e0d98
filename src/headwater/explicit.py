"""A run that a Python program tells about itself, whatever it runs: START, RUNNING, then one end, whatever happens."""

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
from headwater.observe.described import Described
from headwater.observe.failure import Failure, is_exit, python_message, python_trace
from headwater.observe.given import Dataset, given, plain
from headwater.observe.run_facets import failure_facet
from headwater.observe.signals import Ends, Signals
from headwater.observe.threads import ObserverThread
from headwater.observe.told_run import Content, Outward, ToldRun

_STOPPED: Final[Mapping[type[BaseException], str]] = {
    KeyboardInterrupt: "SIGINT",
    CancelledError: "cancelled",
    GeneratorExit: "closed",
}
"""What somebody outside of the block has it end by. In asyncio Ctrl-C is a cancelled task."""
_WHERE_NOBODY_ANSWERS_S: Final = 0.5
_unreached: Final[set[tuple[str, ...]]] = set()
"""Where events of this process's last run waited in vain: a program of many runs waits there once, not with each."""


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
    """A run of a job, for a `with` statement: START when the block begins, and its end as the block's.

    COMPLETE if the block ends, FAIL if it raises, ABORT on Ctrl-C, on SIGTERM (unless the program ignores that or
    handles it itself), where its asyncio task is cancelled or its generator closed, where the program exits while it is
    open, and where the block calls `abort`. Events are signed and spooled; none of them can hold the program up. In a
    process that the block forks the run is nobody's: nothing there tells of it.

    Args:
        job: its name.
        namespace: of the job.
        inputs: what is read, as far as it is known before: one dataset or several; more by `reads`.
        outputs: what is written; more by `writes`.
        endpoint: where events are posted; a service on this machine unless an endpoint or a file is named.
        file: a file to append events to.
        token_env: the environment variable that holds the endpoint's bearer token.
        running_every_s: seconds between two RUNNING events.

    Raises:
        InvalidNameError: the name of the job, its namespace or a dataset is empty, cannot be read or holds a password.
        TypeError: a dataset is neither a text nor a pair of texts.
        ValueError: there is no time between two RUNNING events.
        InvalidInputError: the endpoint is no URL of a web server, or holds credentials.
        SetupError: this machine's key cannot be read or made.
    """
    if not running_every_s > 0:
        raise ValueError(f"running_every_s: expected more than 0 seconds, found {running_every_s}")
    named = JobId(plain("namespace", namespace), plain("job", job))
    flows = Flows(given("inputs", inputs), given("outputs", outputs))
    opened = partial(opened_emitter, endpoint, file, token_env)
    return ExplicitRun(named, flows, opened, running_every_s, lambda: datetime.now(UTC))


class Flows(NamedTuple):
    """What a run reads and writes, as far as it is known before."""

    inputs: Iterable[Described]
    outputs: Iterable[Described]


class ExplicitRun:
    """A run inside its `with` block.

    Attributes:
        run_id: to pass on to what the block starts, as its parent.
    """

    def __init__(
        self,
        job: JobId,
        flows: Flows,
        opened: Callable[[], Emitter],
        running_every_s: float,
        now: Callable[[], datetime],
    ) -> None:
        """Nothing is told before the block begins."""
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
        self._inputs |= {one.id: one for one in given("reads", datasets)}

    def writes(self, *datasets: Dataset) -> None:
        """Add outputs; the next event names them."""
        self._outputs |= {one.id: one for one in given("writes", datasets)}

    def running(self) -> None:
        """RUNNING, now; it is also told by itself now and then."""
        if self._process == os.getpid():
            self._told.tell(RunState.RUNNING, self._content(None))

    def abort(self, reason: str) -> None:
        """Have the run end as ABORT, unless the block raises."""
        self._stop_reason = reason

    def __enter__(self) -> Self:
        """START.

        Raises:
            RuntimeError: the run has begun before: each is told once.
        """
        if self._process is not None:
            raise RuntimeError("a run is told once: have headwater.run make another")
        self._emitter = self._opened()
        self._started_at = self._now()
        kind = job_type_job.JobTypeJobFacet(processingType="BATCH", integration="HEADWATER", jobType="RUN")
        job = Job(namespace=self._job.namespace, name=self._job.name, facets={"jobType": kind})
        out = Outward(self._now, self._emitter.put)
        self._told = ToldRun(job, self.run_id, self._started_at, {}, out)
        self._process = os.getpid()
        self._signals = Signals(Ends(self.abort, self._stopped, self._emitter.close))
        atexit.register(self._left_open)
        self._told.tell(RunState.START, self._content(None))
        ObserverThread(self._tell_running, "headwater-run").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The one terminal event; what the block raised goes on its way.

        Nothing in a process that the block has forked: it has none of the run's threads, and the end is its parent's.
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
        if not self._told.over:
            failure = None if error is None or self._signals.reason else _failure(error)
            ended = RunState.COMPLETE if self._stop_reason is None else RunState.ABORT
            self._told.tell(RunState.FAIL if failure else ended, self._content(failure))
        self._deliver()

    def _deliver(self) -> None:
        to = self._emitter.targets
        self._emitter.close(_WHERE_NOBODY_ANSWERS_S if to in _unreached else math.inf)
        (_unreached.discard if self._emitter.is_empty else _unreached.add)(to)

    def _stopped(self, _: str) -> None:
        """ABORT, whatever the thread that is in the block does now."""
        self._told.tell(RunState.ABORT, self._content(None))

    def _left_open(self) -> None:
        """ABORT, where the program exits inside the block: in a daemon thread, or a generator that nobody closed."""
        if self._process == os.getpid():
            self._over.set()
            self._stop_reason = self._stop_reason or "exit"
            self._told.tell(RunState.ABORT, self._content(None))

    def _tell_running(self) -> None:
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
    """Only the class and place of an exception, since its message may hold anything; our own hold no values."""
    message = str(error) if isinstance(error, HeadwaterError) else python_message(error)
    return Failure(message, python_trace(error), "PYTHON")
