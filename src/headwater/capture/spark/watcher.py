"""Processes Spark's notifications in order, on a thread of its own, while the program goes on.

An action that ends within a second is reported after its end, START and end together. A longer one is found in Spark's
own list of executions: its START is emitted while it runs, and its end also if the program is stopped.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple

from openlineage.client.event_v2 import RunState
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from headwater.capture.spark.action import Action, learn_plan
from headwater.capture.spark.application import Application, Ending
from headwater.capture.spark.figures import Figures
from headwater.capture.spark.listeners import ActionEnded, Note, QueryProgressed, QueryStarted, QueryTerminated
from headwater.capture.spark.pending import PendingActions
from headwater.capture.spark.running import Running, running
from headwater.capture.spark.stream import Stream
from headwater.observe.failure import UNKNOWN_FAILURE
from headwater.observe.guard import Guard
from headwater.observe.run_reporter import RunReporter
from headwater.observe.spark.executions import JDBC_WRITE, shows_result
from headwater.observe.spark.failure import java_failure, was_cancelled
from headwater.observe.spark.jvm import Java, release_thread

log = logging.getLogger(__name__)

_LOOK_EVERY_S: Final = 1.0
_DRAIN_MS: Final = 5_000

Task = Callable[[], None]


class _Open(NamedTuple):
    """An action that was found while it is running."""

    action: Action
    run: RunReporter | None
    """None if it writes no dataset, or belongs to a stream."""


class Watcher:
    """Turns notes into events; nothing it does can fail the program."""

    def __init__(self, session: SparkSession, application: Application, guard: Guard) -> None:
        self._session = session
        self._application = application
        self._guard = guard
        self._figures = Figures(session)
        self._bus = session.sparkContext._jsc.sc().listenerBus()
        self._held = PendingActions()
        self._open: dict[int, _Open] = {}
        self._streams: dict[str, Stream] = {}
        self._stop_reason: str | None = None
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="headwater-capture", daemon=True)

    def start(self) -> None:
        """Start the thread, which emits START of the program's run."""
        self._tasks.put(self._application.begin)
        self._thread.start()

    def take(self, note: Note) -> None:
        """Queue a note; never blocks and never raises."""
        match note:
            case ActionEnded():
                self._tasks.put(partial(self._ended, note))
            case QueryStarted():
                self._tasks.put(partial(self._stream_started, note))
            case QueryProgressed():
                self._tasks.put(partial(self._progressed, note))
            case QueryTerminated():
                self._tasks.put(partial(self._terminated, note))

    def stopping(self, reason: str) -> None:
        """Note that the program is being stopped: work that Spark cancels from now on is not a failure."""
        self._stop_reason = self._stop_reason or reason

    def end(self, ending: Ending, patience_s: float) -> None:
        """Emit the last events, from the calling thread if the watcher's thread is blocked in Spark."""
        if ending.stop_reason is None:
            self._tasks.put(self._settle)
            # Earlier notes are in the queue before this one, and each may be deferred once.
            self._tasks.put(partial(self._put_off, partial(self._put_off, partial(self._finish, ending))))
        else:
            self._tasks.put(partial(self._finish, ending))
        self._thread.join(patience_s)
        if not self._application.over:
            log.warning("lineage is incomplete: Spark does not respond")
            self._tell_ends(ending)

    def _work(self) -> None:
        try:
            self._work_through()
        finally:
            release_thread()

    def _work_through(self) -> None:
        """Separate from `_work`, so that objects released here are released in the JVM by this thread's connection."""
        looked_at = time.monotonic()
        while not self._application.over:
            try:
                task = self._tasks.get(timeout=_LOOK_EVERY_S)
            except Empty:
                task = None
            if task is not None:
                self._guard.attempt("capture", task, None)
            if time.monotonic() - looked_at >= _LOOK_EVERY_S:
                looked_at = time.monotonic()
                self._guard.attempt("look", self._look, None)

    def _look(self) -> None:
        for action in self._held.ripe(self._application.now()):
            self._report(action)
        for one in running(self._session):
            if one.number not in self._open:
                self._open[one.number] = self._opened(one)

    def _opened(self, one: Running) -> _Open:
        action = Action(called="query", number=one.number, kind="", started_at=one.started_at)
        if self._stream_of(one.execution) is not None:
            return _Open(action, None)
        learn_plan(action, one.execution, self._guard)
        if not action.has_datasets or not action.writes:
            return _Open(action, None)
        run = self._application.child(action.name, "BATCH", action.started_at)
        run.emit(RunState.START, action.content())
        return _Open(action, run)

    def _ended(self, note: ActionEnded) -> None:
        if note.called == JDBC_WRITE:  # the outer command is reported
            return
        stream = self._stream_of(note.execution)
        if stream is not None and note.execution.getClass().getSimpleName() != "QueryExecution":
            return  # a micro-batch itself, which the query's progress reports
        number = note.execution.id()
        known = self._open.pop(number, None)
        started_at = known.action.started_at if known else _started_at(note)
        action = Action(called=note.called, number=number, kind="", started_at=started_at, ended_at=note.ended_at)
        action.ending = self._guard.attempt("failure", partial(self._ending, note.error), Ending(UNKNOWN_FAILURE))
        try:
            if shows_result(note.execution):  # the earlier command is reported
                return
            learn_plan(action, note.execution, self._guard, stream.behind if stream else None)
        except AnalysisException:  # a query that fails the analysis did not run
            return
        if action.has_datasets:
            self._guard.attempt("figures", partial(self._figures.learn, action, note.execution), None)
        if stream is not None:
            stream.acted(action)
        else:
            self._sort(action, known.run if known else None)

    def _sort(self, action: Action, run: RunReporter | None) -> None:
        """Report an action, or let it wait for an outer one that it may be part of."""
        for part in self._held.parts_of(action):
            action.adopt(part)
        if action.is_part and run is None:
            self._held.add(action)
        else:
            self._report(action, run)

    def _report(self, action: Action, run: RunReporter | None = None) -> None:
        if action.has_datasets or run is not None:
            run = run or self._application.child(action.name, "BATCH", action.started_at)
            run.emit(action.ending.state, action.content(), action.ended_at)

    def _ending(self, error: Java | None) -> Ending:
        if error is None:
            return Ending()
        if self._stop_reason is not None or was_cancelled(error):
            return Ending(stop_reason=self._stop_reason or "cancelled")
        return Ending(java_failure(error))

    def _stream_started(self, note: QueryStarted) -> None:
        stream = Stream(note.execution, note.name, note.at, self._guard, self._figures)
        stream.begin(self._application, note.run_id)
        self._streams[note.run_id] = stream

    def _progressed(self, note: QueryProgressed) -> None:
        if (stream := self._streams.get(note.report["runId"])) is not None:
            stream.progressed(note.report, note.at)

    def _terminated(self, note: QueryTerminated) -> None:
        """Defer a query's end: Spark reports its last micro-batches on another thread, and these come first."""
        self._bus.waitUntilEmpty(_DRAIN_MS)
        self._tasks.put(partial(self._stream_ended, note))

    def _stream_ended(self, note: QueryTerminated) -> None:
        stream = self._streams.pop(note.run_id, None)
        if stream is not None:
            stopped = self._stop_reason
            stream.end(note.at, failed=note.failed and stopped is None, stop_reason=stopped)

    def _stream_of(self, execution: Java) -> Stream | None:
        if not self._streams:
            return None
        session_id = execution.sparkSession().sessionUUID()
        return next((stream for stream in self._streams.values() if stream.session_id == session_id), None)

    def _put_off(self, task: Task) -> None:
        self._tasks.put(task)

    def _settle(self) -> None:
        self._bus.waitUntilEmpty(_DRAIN_MS)

    def _finish(self, ending: Ending) -> None:
        if ending.stop_reason is not None:
            self._guard.attempt("look", self._look, None)
        self._tell_ends(ending)

    def _tell_ends(self, ending: Ending) -> None:
        """End all open runs, then the program's run.

        Makes no calls into the JVM: it may run in a signal handler within such a call.
        """
        reason = ending.stop_reason or "the program ended"
        for action in self._held.all():
            self._guard.attempt("held", partial(self._report, action), None)
        for one in self._open.values():
            one.action.ending = Ending(stop_reason=reason)
            one.action.ended_at = self._application.now()
            if one.run is not None:
                self._guard.attempt("open", partial(self._report, one.action, one.run), None)
        for stream in self._streams.values():
            end = partial(stream.end, self._application.now(), failed=False, stop_reason=reason, leaving=True)
            self._guard.attempt("stream", end, None)
        self._application.end(ending)


def _started_at(note: ActionEnded) -> datetime:
    """When its planning began; end minus duration would be too late, since ends are reported late."""
    planning = note.execution.tracker().phases().get("planning")
    if not planning.isDefined():
        return note.started_at
    began = datetime.fromtimestamp(planning.get().startTimeMs() / 1000, note.ended_at.tzinfo)
    return min(began, note.ended_at)
