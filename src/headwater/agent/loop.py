"""The agent itself: decides by the pure parts, records, and only then acts; all in one event loop."""

import asyncio
import contextlib
import logging
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from headwater.agent.config import AgentConfig
from headwater.agent.deployed import Deployed
from headwater.agent.deploying import checked
from headwater.agent.engine import Engine
from headwater.agent.leftovers import LOOK_EVERY_S, Leftovers
from headwater.agent.logs import remove_logs
from headwater.agent.messages import (
    Close,
    ClosedRun,
    Halt,
    LateDeliveries,
    Pipeline,
    Report,
    Run,
    RunEnded,
    RunStarted,
    StatusReport,
    Unfit,
)
from headwater.agent.outcomes import drop_outcome, unrecorded_outcomes
from headwater.agent.planning import dispatchable
from headwater.agent.states import (
    BY_PERSON,
    DELETED,
    SHUTDOWN,
    SUPERSEDED,
    UNDER_WAY,
    Closed,
    DeliveryCounts,
    Dispatched,
    Ended,
    Execution,
    HealthChanged,
    Lost,
    StartReported,
    StateEvent,
    StatusReported,
    Stop,
    StopAsked,
    Trigger,
    after,
)
from headwater.agent.store import AgentStore, Job
from headwater.agent.worker_settings import WorkerSettings
from headwater.errors import InvalidInputError, InvalidPipelineError, NotFoundError, UnavailableError
from headwater.pipeline.execution import fetched_folder

log = logging.getLogger(__name__)

_LONGEST_S: Final = 60.0
"""The longest sleep, so that a clock set forward is noticed within this time."""
_YOUNG_S: Final = 10.0
"""A worker that dies sooner than this is restarted with exponential backoff."""
_LONGEST_WAIT_S: Final = 60.0
_DISK_AGAIN_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """The agent's dependencies.

    Attributes:
        now: the time, with a zone; it may jump, for instance when a machine gets the time only after its start.
        new_run_id: a fresh UUID in lower case.
        monotonic: seconds that never jump.
    """

    home: Path
    config: AgentConfig
    now: Callable[[], datetime]
    new_run_id: Callable[[], str]
    monotonic: Callable[[], float] = time.monotonic


class Agent:
    """Runs the deployed jobs; all its methods are called in one event loop."""

    def __init__(self, store: AgentStore, context: AgentContext) -> None:
        self.store = store
        self.context = context
        self.started_at = context.now()
        self.deployed = Deployed(store, context.config.allowed)
        self.engine = Engine(_worker_settings(context), self._on_report, self._worker_ended)
        self._wakeup = asyncio.Event()
        self._is_ending = False
        self._pending_reports: deque[RunStarted | RunEnded | ClosedRun | LateDeliveries] = deque()
        self._is_recovered = False
        self._is_worker_gone = False
        self._worker_from_s = context.monotonic()
        self._short_lives = 0
        self._busy_at_s = context.monotonic()
        self.leftovers = Leftovers(context.home, store, context.config.allowed, self._wake_from_thread)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._look_at_s = context.monotonic()
        self._ended: dict[tuple[int, int], Execution] = {}
        """By job and version, the newest ended execution whose leftovers were not looked for yet."""

    def deploy(self, pipeline: Pipeline, by: str | None) -> Job:
        """Make this the current version of its job; an execution of an older version is stopped as superseded.

        Raises:
            InvalidPipelineError: the pipeline is invalid, uses an endpoint that is not allowed, or accesses a bucket
                in another way than another job.
        """
        spec = checked(pipeline, self.context.config.allowed)
        self.deployed.refuse_other_access(spec)
        job = self.store.deploy(spec.namespace, spec.name, pipeline, self.context.now(), by)
        log.info("job deployed", extra={"job": job.name, "version": job.version})
        for one in self.deployed.unfinished(job):
            if one.version != job.version:
                self._stop(one, Stop(SUPERSEDED))
        self._wakeup.set()
        return job

    def stop(self, job: Job, by: str | None, note: str | None) -> Job:
        """Stop the job's executions, and start no other until a person orders it."""
        job = self.store.want(job, "stopped")
        for one in self.deployed.unfinished(job):
            self._stop(one, Stop(BY_PERSON, by, note))
        self._wakeup.set()
        return job

    def rerun(self, job: Job) -> Execution:
        """Start the job's current version now, stopped or not.

        Raises:
            InvalidInputError: it is running already.
            InvalidPipelineError: its pipeline is invalid in the current environment.
        """
        running = [one.run_id for one in self.deployed.unfinished(job)]
        if running:
            raise InvalidInputError(f"{job.name} is already running, as {running[0]}: stop it first")
        spec = self.deployed.spec_of(job)
        if isinstance(spec, InvalidPipelineError):
            raise spec
        self.store.want(job, "active")
        self._wakeup.set()
        return self._created(job, "rerun")

    def delete(self, job: Job, by: str | None, note: str | None) -> Job:
        """Stop the job's executions, then forget the job."""
        job = self.store.want(job, "deleted")
        for one in self.deployed.unfinished(job):
            self._stop(one, Stop(DELETED, by, note))
        self._wakeup.set()
        return job

    async def serve(self) -> None:
        """Close the runs that a crash left open, and run the deployed jobs; after `shut_down`, end all executions."""
        self._loop = asyncio.get_running_loop()
        while not self._is_ending:
            self._wakeup.clear()
            try:
                wait_s = await self._run_due_work()
            except UnavailableError as fault:
                log.error("the agent cannot schedule executions now: %s", fault)
                wait_s = _DISK_AGAIN_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wakeup.wait(), wait_s)
        await self._drain()

    def shut_down(self) -> None:
        """Make `serve` end."""
        self._is_ending = True
        self._wakeup.set()

    async def _drain(self) -> None:
        """End all executions within `drain_timeout`; those still running are killed, and closed at the next start."""
        try:
            await self._end_executions()
        except UnavailableError as fault:
            log.error("cannot record how executions ended: %s", fault)
        await self.engine.end()
        self.leftovers.close()
        with contextlib.suppress(UnavailableError):  # the next agent finds them, as after a kill
            self._mark_lost()

    async def _end_executions(self) -> None:
        deadline = asyncio.get_running_loop().time() + self.context.config.drain_timeout
        for one in self.store.unfinished():
            if one.state in UNDER_WAY:
                self._shut_down(one)
        while self._has_work() and (left_s := deadline - asyncio.get_running_loop().time()) > 0:
            self._wakeup.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wakeup.wait(), min(left_s, _DISK_AGAIN_S))
            self._apply_reports()

    def _shut_down(self, one: Execution) -> None:
        """Stop an execution even if the disk fails and the stop cannot be recorded."""
        try:
            self._stop(one, Stop(SHUTDOWN))
        except UnavailableError:
            self.engine.send(Halt(run_id=one.run_id, reason=SHUTDOWN))

    async def _run_due_work(self) -> float:
        """Do all that is due now; returns the seconds until something else may be due."""
        if not self._is_recovered:
            self._recover()
        if went := self.leftovers.take():
            self._pending_reports.append(LateDeliveries(went=went))
        self._apply_reports()
        self._mark_lost()
        for job in self.store.jobs():
            if job.wanted == "deleted" and not self.deployed.unfinished(job):
                remove_logs(self.context.home, self.store.forget(job))
                self.deployed.forget(job)
                self._ended = {version: one for version, one in self._ended.items() if one.job_id != job.id}
        self.engine.tidy()
        waits = [_DISK_AGAIN_S if self._pending_reports else _LONGEST_S, *self._planned()]
        unfinished = self.store.unfinished()
        waits.append(self._send_leftovers(is_idle=not unfinished))
        if unfinished:
            self._busy_at_s = self.context.monotonic()
            waits.append(await self._worker_ready(unfinished))
            if self.engine.is_fit and not self._is_ending:
                self._dispatch(dispatchable(unfinished, self.context.config.max_executions))
        elif self.engine.is_running:
            waits.append(await self._ended_if_idle())
        return min(waits)

    def _send_leftovers(self, *, is_idle: bool) -> float:
        """Send the leftover events of ended executions; returns the seconds until the next look."""
        with_waiting_events = self.store.with_waiting_events()
        if not (with_waiting_events or self._ended or self.leftovers.is_busy or self.store.forgotten_with_waiting()):
            return _LONGEST_S
        if (wait_s := self._look_at_s - self.context.monotonic()) > 0:
            return wait_s
        now = self.context.now()
        changed = self.leftovers.look([*with_waiting_events, *self._ended.values()], is_idle=is_idle)
        self.store.record(now, *(after(one, HealthChanged(health), now) for one, health in changed))
        self._ended.clear()
        self._look_at_s = self.context.monotonic() + LOOK_EVERY_S
        return LOOK_EVERY_S

    def _record_deliveries(self, went: Mapping[str, DeliveryCounts], now: datetime) -> None:
        changed = []
        for run_id, each in went.items():
            with contextlib.suppress(NotFoundError):  # its job was deleted, or it is a run of the emitter itself
                one = self.store.execution(run_id)
                changed.append(after(one, HealthChanged(one.health.after(each)), now))
        self.store.record(now, *changed)

    def _check_leftovers_soon(self) -> None:
        self._look_at_s = self.context.monotonic()
        self._wakeup.set()

    def _wake_from_thread(self) -> None:
        """Wake the loop from a sending thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the agent has ended
                self._loop.call_soon_threadsafe(self._check_leftovers_soon)

    def _mark_lost(self) -> None:
        """Once a dead worker's reports are all applied, mark its remaining executions as lost."""
        if self._is_worker_gone and not self._pending_reports:
            for one in self.store.unfinished():
                self._record_event(one, Lost())
            self._is_worker_gone = False

    async def _worker_ready(self, unfinished: list[Execution]) -> float:
        """Make sure that there is a worker; returns the seconds until the next try if it must wait."""
        wait_s = self._worker_from_s - self.context.monotonic()
        if self.engine.is_running:
            return _LONGEST_S
        if self._is_worker_gone:
            return _DISK_AGAIN_S
        if wait_s > 0:
            return wait_s
        await self.engine.start()
        self._worker_from_s = self.context.monotonic()
        self._close_lost(unfinished)
        return _LONGEST_S

    def _planned(self) -> list[float]:
        """Create the executions that are due; returns the seconds until each other job's next start."""
        waits = []
        for job in self.store.jobs():
            start = self.deployed.next_start(job, self.context.now())
            if start is None:
                continue
            wait_s = (start.at - self.context.now()).total_seconds()
            if wait_s <= 0:
                self._created(job, start.trigger)
            else:
                waits.append(wait_s)
        return waits

    def _created(self, job: Job, trigger: Trigger) -> Execution:
        now = self.context.now()
        one = Execution(
            run_id=self.context.new_run_id(), job_id=job.id, version=job.version, trigger=trigger, created_at=now
        )
        self.store.record(now, one)
        remove_logs(self.context.home, self.store.prune(job.id, self.context.config.keep_executions))
        return one

    def _dispatch(self, pending: Iterable[Execution]) -> None:
        for one in pending:
            sent = self._record_event(one, Dispatched())
            pipeline = self.store.version(one.job_id, one.version).pipeline
            self.engine.send(Run(run_id=sent.run_id, pipeline=pipeline))

    def _close_lost(self, unfinished: list[Execution]) -> None:
        for one in unfinished:
            if one.state == "lost" and one.started_at is not None:
                pipeline = self.store.version(one.job_id, one.version).pipeline
                self.engine.send(
                    Close(
                        run_id=one.run_id,
                        pipeline=pipeline,
                        is_told=one.is_told,
                        started_at=one.started_at,
                        last_seen=one.last_seen or one.started_at,
                        counters=one.counters,
                    )
                )

    async def _ended_if_idle(self) -> float:
        left_s = self.context.config.idle_timeout - (self.context.monotonic() - self._busy_at_s)
        if left_s > 0:
            return left_s
        await self.engine.end()
        self._short_lives, self._worker_from_s = 0, self.context.monotonic()  # it was ended, so the next need not wait
        return _LONGEST_S

    def _recover(self) -> None:
        """Settle the executions of the previous agent: each left an outcome on disk, or is lost."""
        for over in unrecorded_outcomes(self.context.home):
            self._apply_report(over)
        for one in self.store.unfinished():
            self._record_event(one, Lost())
            shutil.rmtree(fetched_folder(self.context.home, one.run_id), ignore_errors=True)
        for job in self.store.jobs():
            for one in self.store.executions(job.id, limit=1):
                self._ended[one.job_id, one.version] = one
        self._is_recovered = True

    def _on_report(self, report: Report) -> None:
        match report:
            case Unfit():
                pass
            case StatusReport():
                with contextlib.suppress(UnavailableError):  # the next report comes in a second
                    self._record_status(report)
            case _:
                self._pending_reports.append(report)
                self._apply_reports()
                if self._pending_reports:
                    self._wakeup.set()

    def _apply_reports(self) -> None:
        """Record the pending reports of the worker in order, until the disk fails."""
        try:
            while self._pending_reports:
                self._apply_report(self._pending_reports[0])
                self._pending_reports.popleft()
        except UnavailableError as fault:
            log.error("cannot record a report from the worker yet: %s", fault)

    def _apply_report(self, report: RunStarted | RunEnded | ClosedRun | LateDeliveries) -> None:
        if isinstance(report, LateDeliveries):
            self._record_deliveries(report.went, self.context.now())
            return
        try:
            one = self.store.execution(report.run_id)
        except NotFoundError:  # its job was deleted
            drop_outcome(self.context.home, report.run_id)
            return
        now = self.context.now()
        match report:
            case RunStarted():
                self._record_event(one, StartReported(), now)
            case RunEnded():
                self._record_event(one, Ended(report.end, report.error, report.counters, report.health), report.at)
                drop_outcome(self.context.home, one.run_id)
            case ClosedRun(problem=problem, waiting=waiting, why=why):
                if problem is not None:
                    log.error("cannot close the run of a lost execution", extra={"run_id": one.run_id, "why": problem})
                self._record_event(one, Closed(problem, waiting, why), now)

    def _record_status(self, report: StatusReport) -> None:
        now = self.context.now()
        known = {one.run_id: one for one in self.store.unfinished()}
        seen = [
            (known[one.run_id], StatusReported(one.counters, one.health)) for one in report.alive if one.run_id in known
        ]
        self.store.record(now, *(after(one, event, now) for one, event in seen))

    def _worker_ended(self) -> None:
        """Called once the worker is gone; `_mark_lost` follows once its reports are recorded."""
        now_s = self.context.monotonic()
        self._short_lives = self._short_lives + 1 if now_s - self._worker_from_s < _YOUNG_S else 0
        self._worker_from_s = now_s + min(2.0 ** min(self._short_lives, 30) - 1, _LONGEST_WAIT_S)
        self._is_worker_gone = True
        self._wakeup.set()

    def _stop(self, one: Execution, stop: Stop) -> None:
        stopping = self._record_event(one, StopAsked(stop))
        if stopping.state == "stopping" and stopping is not one:
            self.engine.send(Halt(run_id=one.run_id, reason=stop.reason, by=stop.by, note=stop.note))

    def _record_event(self, one: Execution, event: StateEvent, at: datetime | None = None) -> Execution:
        """Apply an event to an execution and record the new state, before anything is done about it."""
        at = at or self.context.now()
        changed = after(one, event, at)
        if changed is not one:
            self.store.record(at, changed)
        if changed.state != one.state:
            log.info("execution is %s", changed.state, extra={"run_id": one.run_id})
            if changed.is_over:
                self._ended[one.job_id, one.version] = changed
                self._check_leftovers_soon()
            self._wakeup.set()
        return changed

    def _has_work(self) -> bool:
        return any(one.state in UNDER_WAY for one in self.store.unfinished())


def _worker_settings(context: AgentContext) -> WorkerSettings:
    config = context.config
    # Half of the time is for the work to stop, the other half for its last events to be delivered.
    grace_s = config.drain_timeout / 2
    return WorkerSettings(
        home=context.home,
        master=config.master,
        spark=config.spark,
        stop_grace_s=grace_s,
        allowed_endpoints=config.allowed_endpoints,
    )
