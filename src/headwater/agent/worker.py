"""The worker: the one process with Spark. It runs executions, each as `headwater run` would, and says how they fare.

What it is started with comes on the first line of standard input, not in its command line, which others may read;
commands follow, and reports go to what was standard output, a JSON object a line. Where the input ends,
the agent is gone: the worker then ends at once, as the machine might have, and Spark's JVM with it; the next agent
closes the runs. Signals are the agent's business: a service manager sends them to both.
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
    Alive,
    Began,
    Close,
    ClosedRun,
    Halt,
    Later,
    Over,
    Pulse,
    Quit,
    Report,
    Run,
    Unfit,
    read_command,
    report_line,
)
from headwater.agent.outcomes import keep_outcome
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

_PULSE_S: Final = 1.0
_SECURE_WITHIN_S: Final = 10.0
_NO_COUNTERS: Final[Mapping[str, object]] = {}


@dataclass(slots=True)
class _Underway:
    """An execution, as its threads share it; each attribute is replaced whole."""

    run_id: str
    stop: StopSignal = field(default_factory=StopSignal)
    emitter: Emitter | None = None
    transports: int = 0
    deliveries: Deliveries = field(default_factory=Deliveries)
    counters: Mapping[str, object] = field(default_factory=dict)

    def health(self) -> Health:
        """What became of its events so far."""
        if self.emitter is None:
            return Health()
        # Of what the emitter has to do with, others may have left some, of which is told there.
        stats, own = self.emitter.stats(), self.deliveries.of(self.run_id)
        waiting = min(stats.spooled, max(0, self.deliveries.told * self.transports - own.count))
        refused = {"refused": own.refused} if own.refused else {}
        dropped = {reason: count for reason, count in stats.dropped.items() if reason != "refused"}
        return Health(own.delivered, waiting, {**dropped, **refused}, stats.last_error)

    def waiting_of_told(self) -> int:
        """At most how many of the events that were told here wait."""
        waiting = 0 if self.emitter is None else self.emitter.stats().spooled
        return min(waiting, self.deliveries.told * self.transports)

    def is_secure(self) -> bool:
        """Whether what it told so far outlives a kill and a power cut; waits for that."""
        if self.emitter is None or self.emitter.secure(_SECURE_WITHIN_S):
            return True
        log.error("what a run told is not on the disk", extra={"run_id": self.run_id})
        return False


class Worker:
    """Obeys commands; its executions run in threads of their own."""

    def __init__(self, settings: WorkerSettings, report: Callable[[Report], None]) -> None:
        """`report` is called from many threads."""
        self._settings = settings
        self._report = report
        self._underway: dict[str, _Underway] = {}
        self._lock = threading.Lock()

    def obey(self, command: Run | Halt | Close) -> None:
        """Begin what the command says; returns at once."""
        match command:
            case Run():
                one = _Underway(command.run_id)
                with self._lock:
                    self._underway[one.run_id] = one
                _in_thread(f"execution-{one.run_id}", partial(self._execute, command, one))
            case Halt():
                if (found := self._underway.get(command.run_id)) is not None:
                    found.stop.request(command.reason, command.by, command.note)
            case Close():
                _in_thread(f"close-{command.run_id}", partial(self._close, command))

    def pulse(self) -> bool:
        """Report what is alive; False once Spark is gone and nothing runs any more."""
        with self._lock:
            underway = list(self._underway.values())
        for one in underway:
            self._tell_of_others(one, but=one.run_id)
        if underway:
            alive = (Alive(run_id=one.run_id, counters=one.counters, health=one.health()) for one in underway)
            self._report(Pulse(alive=tuple(alive)))
        if not _jvm_is_gone():
            return True
        self._report(Unfit())
        return bool(underway)

    def _execute(self, command: Run, one: _Underway) -> None:
        with written_log(log_of(self._settings.home, one.run_id), one.run_id):
            try:
                over = self._ran(command, one)
            except Exception as fault:
                log.exception("an execution could not be run", extra={"run_id": one.run_id})
                over = self._over(one, "FAIL", _told(fault), _NO_COUNTERS)
            log.info("over: %s", f"{over.end} {over.error}" if over.error else over.end)
        self._tell_of_others(one, but=one.run_id)
        with self._lock:
            del self._underway[one.run_id]
        if _jvm_is_gone():
            self._report(Unfit())  # first, so that no restart is sent here
        self._report(over)

    def _ran(self, command: Run, one: _Underway) -> Over:
        from headwater.pipeline.run import Surroundings, run_pipeline  # pyspark: only a worker that runs something

        spec = checked(command.pipeline)
        with self._emission(spec.lineage, one) as (node_id, put):
            around = Surroundings(
                home=self._settings.home,
                put=put,
                now=lambda: datetime.now(UTC),
                new_run_id=lambda: one.run_id,
                node_id=node_id,
                progress=log.info,
                stop_grace_s=self._settings.stop_grace_s,
            )
            session = partial(self._session, one, is_silent=not spec.lineage.enabled)
            result = run_pipeline(spec, session, around, one.stop)
            over = self._over(one, result.state, result.error, _counted(result))
            # Before the wait for its events to go out: should all be killed meanwhile, the run has ended all the same.
            # After what tells of that is on the disk: else it would have ended in no lineage at all.
            if one.is_secure():
                keep_outcome(self._settings.home, over)
        return self._over(one, result.state, result.error, over.counters)

    def _session(self, one: _Underway, *, is_silent: bool) -> "SparkSession":
        from headwater.pipeline.session import open_session  # pyspark, as in `_ran`

        settings = self._settings
        session = open_session(
            settings.home, master=settings.master, name="headwater agent", options=dict(settings.spark)
        )
        if is_silent:  # no START will tell
            self._report(Began(run_id=one.run_id))
        return session

    @contextlib.contextmanager
    def _emission(self, lineage: LineageSpec, one: _Underway) -> Iterator[tuple[str, Callable[[bytes], None]]]:
        """The node's id, and where events go; without lineage no key, no thread, no connection."""
        if not lineage.enabled:
            yield "", lambda _: None
            return
        key = load_or_create(self._settings.home)
        config = emit_config(lineage, self._settings.home)
        one.transports = sum(each is not None for each in (config.http, config.file))
        with Emitter.of_node(config, key, observe=one.deliveries) as emitter:
            one.emitter = emitter
            yield key.node_id, partial(self._passed_on, one, emitter)

    def _passed_on(self, one: _Underway, emitter: Emitter, event: bytes) -> None:
        one.deliveries.put()
        emitter.put(event)
        try:
            told = orjson.loads(event)
            one.counters = told["run"]["facets"].get("headwater_run", one.counters)
            if told["eventType"] == "START":
                self._report(Began(run_id=one.run_id))
        except (ValueError, LookupError, TypeError, AttributeError):
            log.warning("an event's counters could not be read", extra={"run_id": one.run_id})

    def _tell_of_others(self, one: _Underway, but: str | None) -> None:
        """Of what its emitter took up from executions before, but for one run."""
        if went := one.deliveries.take(but):
            self._report(Later(went=went))

    def _over(self, one: _Underway, end: Any, error: str | None, counters: Mapping[str, object]) -> Over:  # noqa: ANN401
        return Over(
            run_id=one.run_id, end=end, error=error, counters=counters, health=one.health(), at=datetime.now(UTC)
        )

    def _close(self, command: Close) -> None:
        from headwater.agent.closing import last_events  # the OpenLineage client: 0.4 s, and only needed here

        problem = None
        one = _Underway(command.run_id)
        try:
            spec = checked(command.pipeline)
            with self._emission(spec.lineage, one) as (_, put):
                for event in last_events(spec, command) if spec.lineage.enabled else []:
                    put(event)
                one.is_secure()
        except HeadwaterError as refused:
            problem = _told(refused)
        except Exception as fault:
            log.exception("a run could not be closed", extra={"run_id": command.run_id})
            problem = _told(fault)
        why = one.health().last_error
        self._tell_of_others(one, but=None)
        self._report(ClosedRun(run_id=one.run_id, problem=problem, waiting=one.waiting_of_told(), why=why))


def main() -> None:
    """Obey the agent whose pipes these are, until it says so or is gone."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    log_to_standard_error()
    commands = os.fdopen(os.dup(0), "rb")
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a pipeline prints goes where the log goes
    if not (first := commands.readline()):
        return  # the agent is gone
    worker = Worker(read_settings(first), _reporter(reports))
    _in_thread("pulse", partial(_keep_pulse, worker))
    for line in commands:
        command = read_command(line)
        if isinstance(command, Quit):
            break
        worker.obey(command)
    os._exit(0)  # not the usual way: threads may be in the middle of a call into a JVM that now goes too


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


def _keep_pulse(worker: Worker) -> None:
    waited = threading.Event()
    while _beats(worker):
        waited.wait(_PULSE_S)
    os._exit(0)


def _beats(worker: Worker) -> bool:
    try:
        return worker.pulse()
    except Exception:
        log.exception("a pulse could not be told")
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


def _told(fault: Exception) -> str:
    """In our own errors nothing of the data; of others only the class is told."""
    return str(fault) if isinstance(fault, HeadwaterError | InvalidPipelineError) else type(fault).__name__


def _in_thread(name: str, work: Callable[[], None]) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()


if __name__ == "__main__":
    main()
