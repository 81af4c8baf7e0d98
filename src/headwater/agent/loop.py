"""The agent itself: decides by the pure parts, records, and only then acts. All of it in one event loop."""

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
from headwater.agent.messages import Began, Close, ClosedRun, Halt, Later, Over, Pipeline, Pulse, Report, Run, Unfit
from headwater.agent.outcomes import drop_outcome, kept_outcomes
from headwater.agent.planning import dispatchable
from headwater.agent.states import (
    BY_PERSON,
    DELETED,
    SHUTDOWN,
    SUPERSEDED,
    UNDER_WAY,
    Closed,
    Ended,
    Execution,
    Felt,
    Happening,
    Lost,
    Seen,
    Sent,
    Stop,
    StopAsked,
    Told,
    Trigger,
    WentOut,
    after,
)
from headwater.agent.store import AgentStore, Job
from headwater.agent.worker_settings import WorkerSettings
from headwater.errors import InvalidInputError, InvalidPipelineError, NotFoundError, UnavailableError
from headwater.pipeline.execution import fetched_folder

log = logging.getLogger(__name__)

_LONGEST_S: Final = 60.0
"""So soon a clock that was put forward is noticed."""
_YOUNG_S: Final = 10.0
"""A worker that dies before is started again later and later."""
_LONGEST_WAIT_S: Final = 60.0
_DISK_AGAIN_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the agent is given from outside.

    Attributes:
        now: the time, with a zone; may jump either way, as where a machine learns the time after it has started.
        new_run_id: a fresh UUID in lower case.
        monotonic: seconds that never jump.
    """

    home: Path
    config: AgentConfig
    now: Callable[[], datetime]
    new_run_id: Callable[[], str]
    monotonic: Callable[[], float] = time.monotonic


class Agent:
    """Runs what is deployed; all its methods are called in one event loop."""

    def __init__(self, store: AgentStore, around: Around) -> None:
        self.store = store
        self.around = around
        self.started_at = around.now()
        self.deployed = Deployed(store, around.config.allowed)
        self.engine = Engine(_worker_settings(around), self._heard, self._worker_ended)
        self._news = asyncio.Event()
        self._is_ending = False
        self._unheard: deque[Began | Over | ClosedRun | Later] = deque()
        self._is_recovered = False
        self._is_worker_gone = False
        self._worker_from_s = around.monotonic()
        self._short_lives = 0
        self._busy_at_s = around.monotonic()
        self.leftovers = Leftovers(around.home, store, around.config.allowed, self._woken)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._look_at_s = around.monotonic()
        self._ended: dict[tuple[int, int], Execution] = {}
        """The newest to have ended of a version, unless it was looked at what they left."""

    def deploy(self, pipeline: Pipeline, by: str | None) -> Job:
        """Make this the current version of its job; an execution of an older one ends, superseded.

        Raises:
            InvalidPipelineError: the pipeline is wrong, names an endpoint that is not allowed, or reaches a bucket
                otherwise than another job.
        """
        spec = checked(pipeline, self.around.config.allowed)
        self.deployed.refuse_other_access(spec)
        job = self.store.deploy(spec.namespace, spec.name, pipeline, self.around.now(), by)
        log.info("job deployed", extra={"job": job.name, "version": job.version})
        for one in self.deployed.unfinished(job):
            if one.version != job.version:
                self._stop(one, Stop(SUPERSEDED))
        self._news.set()
        return job

    def stop(self, job: Job, by: str | None, note: str | None) -> Job:
        """End what runs, and start nothing of the job until a person says so."""
        job = self.store.want(job, "stopped")
        for one in self.deployed.unfinished(job):
            self._stop(one, Stop(BY_PERSON, by, note))
        self._news.set()
        return job

    def rerun(self, job: Job) -> Execution:
        """Start the job's current version now, stopped or not.

        Raises:
            InvalidInputError: it runs already.
            InvalidPipelineError: its pipeline is refused as things are now.
        """
        running = [one.run_id for one in self.deployed.unfinished(job)]
        if running:
            raise InvalidInputError(f"{job.name} runs already, as {running[0]}: stop it first")
        spec = self.deployed.spec_of(job)
        if isinstance(spec, InvalidPipelineError):
            raise spec
        self.store.want(job, "active")
        self._news.set()
        return self._created(job, "rerun")

    def delete(self, job: Job, by: str | None, note: str | None) -> Job:
        """End what runs; then forget the job."""
        job = self.store.want(job, "deleted")
        for one in self.deployed.unfinished(job):
            self._stop(one, Stop(DELETED, by, note))
        self._news.set()
        return job

    async def serve(self) -> None:
        """Close what a crash left open, and run what is deployed; once `shut_down` was called, end what runs."""
        self._loop = asyncio.get_running_loop()
        while not self._is_ending:
            self._news.clear()
            try:
                wait_s = await self._turn()
            except UnavailableError as fault:
                log.error("the agent can decide nothing now: %s", fault)
                wait_s = _DISK_AGAIN_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), wait_s)
        await self._drain()

    def shut_down(self) -> None:
        """Let `serve` come to its end."""
        self._is_ending = True
        self._news.set()

    async def _drain(self) -> None:
        """End all executions within `drain_timeout`; what then still runs is killed, and closed at the next start."""
        try:
            await self._come_to_rest()
        except UnavailableError as fault:
            log.error("how executions ended is not recorded: %s", fault)
        await self.engine.end()
        self.leftovers.close()
        with contextlib.suppress(UnavailableError):  # the next agent finds them, as if this one had been killed
            self._lose()

    async def _come_to_rest(self) -> None:
        deadline = asyncio.get_running_loop().time() + self.around.config.drain_timeout
        for one in self.store.unfinished():
            if one.state in UNDER_WAY:
                self._shut_down(one)
        while self._has_work() and (left_s := deadline - asyncio.get_running_loop().time()) > 0:
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), min(left_s, _DISK_AGAIN_S))
            self._hear()

    def _shut_down(self, one: Execution) -> None:
        """Whatever the disk says: who tells to end does not wait for it."""
        try:
            self._stop(one, Stop(SHUTDOWN))
        except UnavailableError:
            self.engine.send(Halt(run_id=one.run_id, reason=SHUTDOWN))

    async def _turn(self) -> float:
        """Do all that is due now; gives how long nothing else will be."""
        if not self._is_recovered:
            self._recover()
        if went := self.leftovers.take():
            self._unheard.append(Later(went=went))
        self._hear()
        self._lose()
        for job in self.store.jobs():
            if job.wanted == "deleted" and not self.deployed.unfinished(job):
                remove_logs(self.around.home, self.store.forget(job))
                self.deployed.forget(job)
                self._ended = {version: one for version, one in self._ended.items() if one.job_id != job.id}
        self.engine.tidy()
        waits = [_DISK_AGAIN_S if self._unheard else _LONGEST_S, *self._planned()]
        unfinished = self.store.unfinished()
        waits.append(self._send_on(is_idle=not unfinished))
        if unfinished:
            self._busy_at_s = self.around.monotonic()
            waits.append(await self._worker_ready(unfinished))
            if self.engine.is_fit and not self._is_ending:
                self._dispatch(dispatchable(unfinished, self.around.config.max_executions))
        elif self.engine.is_running:
            waits.append(await self._ended_if_idle())
        return min(waits)

    def _send_on(self, *, is_idle: bool) -> float:
        """Have sent what executions left that are over; how many seconds until it is looked for again."""
        owing = self.store.owing()
        if not (owing or self._ended or self.leftovers.is_busy or self.store.left_by()):
            return _LONGEST_S
        if (wait_s := self._look_at_s - self.around.monotonic()) > 0:
            return wait_s
        now = self.around.now()
        felt = self.leftovers.look([*owing, *self._ended.values()], is_idle=is_idle)
        self.store.record(now, *(after(one, Felt(health), now) for one, health in felt))
        self._ended.clear()
        self._look_at_s = self.around.monotonic() + LOOK_EVERY_S
        return LOOK_EVERY_S

    def _went_out(self, went: Mapping[str, WentOut], now: datetime) -> None:
        changed = []
        for run_id, each in went.items():
            with contextlib.suppress(NotFoundError):  # its job was deleted, or it is an emitter's own
                one = self.store.execution(run_id)
                changed.append(after(one, Felt(one.health.after(each)), now))
        self.store.record(now, *changed)

    def _look_soon(self) -> None:
        self._look_at_s = self.around.monotonic()
        self._news.set()

    def _woken(self) -> None:
        """Called by the threads that send."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it is closed: the agent has ended
                self._loop.call_soon_threadsafe(self._look_soon)

    def _lose(self) -> None:
        """What was under way in a worker that is gone, and whose reports are all heard, is lost."""
        if self._is_worker_gone and not self._unheard:
            for one in self.store.unfinished():
                self._happened(one, Lost())
            self._is_worker_gone = False

    async def _worker_ready(self, unfinished: list[Execution]) -> float:
        """See that there is a worker; how many seconds until there may be one, where the last ones died young."""
        wait_s = self._worker_from_s - self.around.monotonic()
        if self.engine.is_running:
            return _LONGEST_S
        if self._is_worker_gone:
            return _DISK_AGAIN_S
        if wait_s > 0:
            return wait_s
        await self.engine.start()
        self._worker_from_s = self.around.monotonic()
        self._close_lost(unfinished)
        return _LONGEST_S

    def _planned(self) -> list[float]:
        """Create executions that are due; how many seconds until others are."""
        waits = []
        for job in self.store.jobs():
            start = self.deployed.next_start(job, self.around.now())
            if start is None:
                continue
            wait_s = (start.at - self.around.now()).total_seconds()
            if wait_s <= 0:
                self._created(job, start.trigger)
            else:
                waits.append(wait_s)
        return waits

    def _created(self, job: Job, trigger: Trigger) -> Execution:
        now = self.around.now()
        one = Execution(
            run_id=self.around.new_run_id(), job_id=job.id, version=job.version, trigger=trigger, created_at=now
        )
        self.store.record(now, one)
        remove_logs(self.around.home, self.store.prune(job.id, self.around.config.keep_executions))
        return one

    def _dispatch(self, pending: Iterable[Execution]) -> None:
        for one in pending:
            sent = self._happened(one, Sent())
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
        left_s = self.around.config.idle_timeout - (self.around.monotonic() - self._busy_at_s)
        if left_s > 0:
            return left_s
        await self.engine.end()
        return _LONGEST_S

    def _recover(self) -> None:
        """What was under way when the agent before ended: it has told its end, or it is lost."""
        for over in kept_outcomes(self.around.home):
            self._take(over)
        for one in self.store.unfinished():
            self._happened(one, Lost())
            shutil.rmtree(fetched_folder(self.around.home, one.run_id), ignore_errors=True)
        for job in self.store.jobs():
            for one in self.store.executions(job.id, limit=1):
                self._ended[one.job_id, one.version] = one
        self._is_recovered = True

    def _heard(self, report: Report) -> None:
        match report:
            case Unfit():
                pass
            case Pulse():
                with contextlib.suppress(UnavailableError):  # the next comes in a second
                    self._seen(report)
            case _:
                self._unheard.append(report)
                self._hear()
                if self._unheard:
                    self._news.set()

    def _hear(self) -> None:
        """Take what the worker has reported, in its order, as far as the disk takes it."""
        try:
            while self._unheard:
                self._take(self._unheard[0])
                self._unheard.popleft()
        except UnavailableError as fault:
            log.error("a report of the worker waits: %s", fault)

    def _take(self, report: Began | Over | ClosedRun | Later) -> None:
        if isinstance(report, Later):
            self._went_out(report.went, self.around.now())
            return
        try:
            one = self.store.execution(report.run_id)
        except NotFoundError:  # its job was deleted
            drop_outcome(self.around.home, report.run_id)
            return
        now = self.around.now()
        match report:
            case Began():
                self._happened(one, Told(), now)
            case Over():
                self._happened(one, Ended(report.end, report.error, report.counters, report.health), report.at)
                drop_outcome(self.around.home, one.run_id)
            case ClosedRun(problem=problem, waiting=waiting, why=why):
                if problem is not None:
                    log.error("a lost run could not be closed", extra={"run_id": one.run_id, "why": problem})
                self._happened(one, Closed(problem, waiting, why), now)

    def _seen(self, pulse: Pulse) -> None:
        now = self.around.now()
        known = {one.run_id: one for one in self.store.unfinished()}
        seen = [(known[one.run_id], Seen(one.counters, one.health)) for one in pulse.alive if one.run_id in known]
        self.store.record(now, *(after(one, what, now) for one, what in seen))

    def _worker_ended(self) -> None:
        """Called once the worker is gone; that its executions are lost may have to wait for the disk."""
        now_s = self.around.monotonic()
        self._short_lives = self._short_lives + 1 if now_s - self._worker_from_s < _YOUNG_S else 0
        self._worker_from_s = now_s + min(2.0 ** min(self._short_lives, 30) - 1, _LONGEST_WAIT_S)
        self._is_worker_gone = True
        self._news.set()

    def _stop(self, one: Execution, stop: Stop) -> None:
        stopping = self._happened(one, StopAsked(stop))
        if stopping.state == "stopping" and stopping is not one:
            self.engine.send(Halt(run_id=one.run_id, reason=stop.reason, by=stop.by, note=stop.note))

    def _happened(self, one: Execution, what: Happening, at: datetime | None = None) -> Execution:
        """Record what comes of it, before anything is done about it."""
        at = at or self.around.now()
        changed = after(one, what, at)
        if changed is not one:
            self.store.record(at, changed)
        if changed.state != one.state:
            log.info("execution is %s", changed.state, extra={"run_id": one.run_id})
            if changed.is_over:
                self._ended[one.job_id, one.version] = changed
                self._look_soon()
            self._news.set()
        return changed

    def _has_work(self) -> bool:
        return any(one.state in UNDER_WAY for one in self.store.unfinished())


def _worker_settings(around: Around) -> WorkerSettings:
    config = around.config
    # Half of the time is for the work to come to rest, the other for its last events to go out.
    grace_s = config.drain_timeout / 2
    return WorkerSettings(home=around.home, master=config.master, spark=config.spark, stop_grace_s=grace_s)
