"""The worker: the one process with Spark. It runs executions, each as `headwater run` would, and reports on them.

Its settings come on the first line of standard input, not on its command line, which others may read; commands follow.
Reports go to the original standard output, one JSON object per line. When the input ends, the agent is gone: the worker
then exits at once, and Spark's JVM with it; the next agent closes the runs. Signals are left to the agent, since a
service manager sends them to both.
"""

import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final

import orjson

from headwater.agent.deliveries import Deliveries
from headwater.agent.deploying import checked
from headwater.agent.logs import log_of, log_to_standard_error, written_log
from headwater.agent.messages import (
    Close,
    ClosedRun,
    Halt,
    LateDeliveries,
    Quit,
    Report,
    Run,
    RunEnded,
    RunStarted,
    RunStatus,
    StatusReport,
    Unfit,
    read_command,
    report_line,
)
from headwater.agent.outcomes import save_outcome
from headwater.agent.states import Health
from headwater.agent.worker_settings import WorkerSettings, read_settings
from headwater.emission import emit_config
from headwater.emit.emitter import Emitter
from headwater.errors import HeadwaterError, InvalidPipelineError
from headwater.pipeline.spec import LineageSpec
from headwater.pipeline.stop import StopSignal
from headwater.signing.keyfile import load_or_create

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.pipeline.run import RunResult

log = logging.getLogger(__name__)

_STATUS_EVERY_S: Final = 1.0
_SECURE_WITHIN_S: Final = 10.0
_NO_COUNTERS: Final[Mapping[str, object]] = {}


@dataclass(slots=True)
class _RunningExecution:
    """An execution's state, shared by its threads; each attribute is replaced, never mutated."""

    run_id: str
    stop: StopSignal = field(default_factory=StopSignal)
    emitter: Emitter | None = None
    transports: int = 0
    deliveries: Deliveries = field(default_factory=Deliveries)
    counters: Mapping[str, object] = field(default_factory=dict)

    def health(self) -> Health:
        """The delivery of its events so far."""
        if self.emitter is None:
            return Health()
        # The emitter may also have adopted events of other runs; those are reported as theirs.
        stats, own = self.emitter.stats(), self.deliveries.of(self.run_id)
        waiting = min(stats.spooled, max(0, self.deliveries.put_count * self.transports - own.count))
        refused = {"refused": own.refused} if own.refused else {}
        dropped = {reason: count for reason, count in stats.dropped.items() if reason != "refused"}
        return Health(own.delivered, waiting, {**dropped, **refused}, stats.last_error)

    def most_waiting(self) -> int:
        """An upper bound of this run's waiting events."""
        waiting = 0 if self.emitter is None else self.emitter.stats().spooled
        return min(waiting, self.deliveries.put_count * self.transports)

    def is_secure(self) -> bool:
        """Wait until its events so far would survive a kill and a power cut; whether they would."""
        if self.emitter is None or self.emitter.secure(_SECURE_WITHIN_S):
            return True
        log.error("the events of a run are not safely on disk", extra={"run_id": self.run_id})
        return False


class Worker:
    """Carries out commands; each execution runs in a thread of its own."""

    def __init__(self, settings: WorkerSettings, report: Callable[[Report], None]) -> None:
        """`report` is called from many threads."""
        self._settings = settings
        self._report = report
        self._underway: dict[str, _RunningExecution] = {}
        self._lock = threading.Lock()

    def obey(self, command: Run | Halt | Close) -> None:
        """Start to carry out a command; returns at once."""
        match command:
            case Run():
                one = _RunningExecution(command.run_id)
                with self._lock:
                    self._underway[one.run_id] = one
                _in_thread(f"execution-{one.run_id}", partial(self._execute, command, one))
            case Halt():
                if (found := self._underway.get(command.run_id)) is not None:
                    found.stop.request(command.reason, command.by, command.note)
            case Close():
                _in_thread(f"close-{command.run_id}", partial(self._close, command))

    def report_status(self) -> bool:
        """Report the executions in progress; False once Spark is gone and nothing runs any more."""
        with self._lock:
            underway = list(self._underway.values())
        for one in underway:
            self._report_others(one, but=one.run_id)
        if underway:
            alive = (RunStatus(run_id=one.run_id, counters=one.counters, health=one.health()) for one in underway)
            self._report(StatusReport(alive=tuple(alive)))
        if not _jvm_is_gone():
            return True
        self._report(Unfit())
        return bool(underway)

    def _execute(self, command: Run, one: _RunningExecution) -> None:
        with written_log(log_of(self._settings.home, one.run_id), one.run_id):
            try:
                over = self._ran(command, one)
            except Exception as fault:
                log.exception("an execution failed to run", extra={"run_id": one.run_id})
                over = self._over(one, "FAIL", _message_of(fault), _NO_COUNTERS)
            log.info("over: %s", f"{over.end} {over.error}" if over.error else over.end)
        self._report_others(one, but=one.run_id)
        with self._lock:
            del self._underway[one.run_id]
        if _jvm_is_gone():
            self._report(Unfit())  # first, so that the agent dispatches no restart to this worker
        self._report(over)

    def _ran(self, command: Run, one: _RunningExecution) -> RunEnded:
        from headwater.pipeline.run import RunContext, run_pipeline  # imports pyspark: only once something runs

        spec = checked(command.pipeline, self._settings.allowed)
        with self._emission(spec.lineage, one) as (node_id, put):
            context = RunContext(
                home=self._settings.home,
                put=put,
                now=lambda: datetime.now(UTC),
                new_run_id=lambda: one.run_id,
                node_id=node_id,
                progress=log.info,
                stop_grace_s=self._settings.stop_grace_s,
            )
            session = partial(self._session, one, is_silent=not spec.lineage.enabled)
            result = run_pipeline(spec, session, context, one.stop)
            over = self._over(one, result.state, result.error, _counted(result))
            # Before waiting for the delivery of its events: if all is killed meanwhile, the run counts as ended.
            # After its terminal event is on disk: otherwise its lineage would never show an end.
            if one.is_secure():
                save_outcome(self._settings.home, over)
        return self._over(one, result.state, result.error, over.counters)

    def _session(self, one: _RunningExecution, *, is_silent: bool) -> "SparkSession":
        from headwater.pipeline.session import open_session  # pyspark, as in `_ran`

        settings = self._settings
        session = open_session(
            settings.home, master=settings.master, name="headwater agent", options=dict(settings.spark)
        )
        if is_silent:  # no START event will report it
            self._report(RunStarted(run_id=one.run_id))
        return session

    @contextlib.contextmanager
    def _emission(self, lineage: LineageSpec, one: _RunningExecution) -> Iterator[tuple[str, Callable[[bytes], None]]]:
        """The node's id, and the function that takes events; without lineage no key, thread or connection is opened."""
        if not lineage.enabled:
            yield "", lambda _: None
            return
        key = load_or_create(self._settings.home)
        config = emit_config(lineage, self._settings.home)
        one.transports = sum(each is not None for each in (config.http, config.file))
        with Emitter.of_node(config, key, observe=one.deliveries) as emitter:
            one.emitter = emitter
            yield key.node_id, partial(self._forward, one, emitter)

    def _forward(self, one: _RunningExecution, emitter: Emitter, event: bytes) -> None:
        one.deliveries.put()
        emitter.put(event)
        try:
            parsed = orjson.loads(event)
            one.counters = parsed["run"]["facets"].get("headwater_run", one.counters)
            if parsed["eventType"] == "START":
                self._report(RunStarted(run_id=one.run_id))
        except (ValueError, LookupError, TypeError, AttributeError):
            log.warning("cannot read the counters of an event", extra={"run_id": one.run_id})

    def _report_others(self, one: _RunningExecution, but: str | None) -> None:
        """Report what its emitter delivered for other executions, except for the run `but`."""
        if went := one.deliveries.take(but):
            self._report(LateDeliveries(went=went))

    def _over(self, one: _RunningExecution, end: Any, error: str | None, counters: Mapping[str, object]) -> RunEnded:  # noqa: ANN401
        return RunEnded(
            run_id=one.run_id, end=end, error=error, counters=counters, health=one.health(), at=datetime.now(UTC)
        )

    def _close(self, command: Close) -> None:
        from headwater.agent.closing import last_events  # the OpenLineage client: 0.4 s, and only needed here

        problem = None
        one = _RunningExecution(command.run_id)
        try:
            spec = checked(command.pipeline, self._settings.allowed)
            with self._emission(spec.lineage, one) as (_, put):
                for event in last_events(spec, command) if spec.lineage.enabled else []:
                    put(event)
                one.is_secure()
        except HeadwaterError as refused:
            problem = _message_of(refused)
        except Exception as fault:
            log.exception("cannot close a run", extra={"run_id": command.run_id})
            problem = _message_of(fault)
        why = one.health().last_error
        self._report_others(one, but=None)
        self._report(ClosedRun(run_id=one.run_id, problem=problem, waiting=one.most_waiting(), why=why))


def main() -> None:
    """Carry out the agent's commands from standard input, until it says `quit` or is gone."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    log_to_standard_error()
    commands = os.fdopen(os.dup(0), "rb")
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of pipelines goes to the log
    if not (first := commands.readline()):
        return  # the agent is gone
    worker = Worker(read_settings(first), _reporter(reports))
    _in_thread("status", partial(_report_status_forever, worker))
    for line in commands:
        command = read_command(line)
        if isinstance(command, Quit):
            break
        worker.obey(command)
    os._exit(0)  # at once: threads may be in a call into the JVM, which ends now too


def _reporter(reports: IO[bytes]) -> Callable[[Report], None]:
    lock = threading.Lock()

    def report(one: Report) -> None:
        try:
            with lock:
                reports.write(report_line(one))
                reports.flush()
        except OSError:
            os._exit(1)  # the agent is gone

    return report


def _report_status_forever(worker: Worker) -> None:
    waited = threading.Event()
    while _report_status(worker):
        waited.wait(_STATUS_EVERY_S)
    os._exit(0)


def _report_status(worker: Worker) -> bool:
    try:
        return worker.report_status()
    except Exception:
        log.exception("cannot report the status of the worker")
        return True


def _jvm_is_gone() -> bool:
    """Whether Spark was started here and has died since."""
    context = sys.modules.get("pyspark")
    gateway = None if context is None else context.SparkContext._gateway
    process = getattr(gateway, "proc", None)
    return process is not None and process.poll() is not None


def _counted(result: "RunResult") -> Mapping[str, object]:
    if result.counters is None:
        return _NO_COUNTERS
    counted = result.counters
    return {
        "recordsIn": counted.records_in,
        "recordsOut": counted.records_out,
        "bytesIn": counted.bytes_in,
        "bytesOut": counted.bytes_out,
        "errorCount": counted.error_count,
        "durationMs": counted.duration_ms,
    }


def _message_of(fault: Exception) -> str:
    """The message of our own errors, which holds no data; of others only the class."""
    return str(fault) if isinstance(fault, HeadwaterError | InvalidPipelineError) else type(fault).__name__


def _in_thread(name: str, work: Callable[[], None]) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()


if __name__ == "__main__":
    main()
