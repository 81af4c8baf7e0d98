"""Listens to a program's Spark sessions until the program ends."""

import atexit
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Final, Self

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from headwater.capture.spark.application import Application, CaptureContext, Ending
from headwater.capture.spark.listeners import ActionListener, QueryListener
from headwater.capture.spark.watcher import Watcher
from headwater.observe.failure import Failure, is_exit
from headwater.observe.guard import Guard
from headwater.observe.signals import SignalCallbacks, Signals
from headwater.observe.spark.failure import failure_of

_PATIENCE_S: Final = 15.0
"""How long the program's end waits for lineage that is still being determined."""

_PATIENCE_WHEN_STOPPED_S: Final = 4.0
"""The same after SIGTERM: shorter than any usual time until SIGKILL."""


class Capture:
    """The capture of a program; it ends with the program, or with its `with` block.

    Attributes:
        guard: counts failures of the capture.
    """

    def __init__(self, session: SparkSession, context: CaptureContext, close: Callable[[], None]) -> None:
        """Start listening; `close` is called after the last event."""
        self.guard = Guard()
        self._close = close
        self._process = os.getpid()
        self._now = context.out.now
        self._failure: Failure | None = None
        self._ending = threading.Lock()
        self._heard: set[str] = set()
        self._deaf: list[Callable[[], None]] = []
        self._watcher = Watcher(session, Application(context, session.version), self.guard)
        self._signals = Signals(SignalCallbacks(self._watcher.stopping, self._stopped, close))
        self._watcher.start()
        self.add(session)
        self._excepthook = sys.excepthook
        sys.excepthook = self._crashed
        atexit.register(self.end)

    def add(self, session: SparkSession) -> None:
        """Listen to another session of the same program, from `newSession()`; ignored if it is listened to already."""
        java = session._jsparkSession
        if java.sessionUUID() in self._heard:
            return
        self._heard.add(java.sessionUUID())
        ensure_callback_server_started(session.sparkContext._gateway)
        actions = ActionListener(self._watcher.take, self._now)
        java.listenerManager().register(actions)
        queries = QueryListener(session, self._watcher.take, self._now)
        self._deaf += [
            partial(java.listenerManager().unregister, actions),
            queries.listen(session),
        ]

    def end(self, error: BaseException | None = None) -> None:
        """End the program's run: FAIL with this error or an uncaught exception, otherwise COMPLETE.

        Does nothing in a forked process, which has none of the capture's threads; Spark's connection is its parent's.
        """
        if os.getpid() != self._process:
            return
        if isinstance(error, KeyboardInterrupt):
            self._end(Ending(stop_reason="SIGINT"), _PATIENCE_S)
            return
        if error is not None and not is_exit(error):
            self._failure = self._failure or self.guard.attempt("failure", lambda: failure_of(error), None)
        reason = self._signals.reason if self._failure is None else None
        self._end(Ending(self._failure, reason), _PATIENCE_S)

    def __enter__(self) -> Self:
        """The capture itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program's run, with the block's exception if any."""
        self.end(error)

    def _end(self, ending: Ending, patience_s: float) -> None:
        if not self._ending.acquire(blocking=False):
            return
        atexit.unregister(self.end)
        if sys.excepthook == self._crashed:
            sys.excepthook = self._excepthook
        self.guard.attempt("end", lambda: self._watcher.end(ending, patience_s), None)
        if ending.stop_reason is None:  # else this thread may be in a call into Spark
            for stop_listening in self._deaf:
                self.guard.attempt("listeners", stop_listening, None)
        self._close()
        self._signals.restore()

    def _stopped(self, reason: str) -> None:
        """End from a signal handler, without calls into Spark, since this thread may be in one."""
        if self._ending.acquire(blocking=False):
            ending = Ending(stop_reason=reason)
            self.guard.attempt("end", lambda: self._watcher.end(ending, _PATIENCE_WHEN_STOPPED_S), None)

    def _crashed(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._excepthook(kind, error, trace)
        self.end(error)


class NotCaptured:
    """A null object for a `Capture`, if a program cannot be captured."""

    def add(self, session: SparkSession) -> None:
        """Does nothing."""

    def end(self, error: BaseException | None = None) -> None:
        """Does nothing."""

    def __enter__(self) -> Self:
        """The object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Does nothing."""
