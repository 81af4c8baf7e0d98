"""The control API's answers, and how they are made from the agent's records."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime

from typing_extensions import TypedDict

from headwater.agent.loop import Agent
from headwater.agent.states import ENDED, Execution, Health
from headwater.agent.store import Job, Version
from headwater.errors import InvalidPipelineError
from headwater.model.producer import VERSION
from headwater.pipeline.spec import Schedule


class JobShape(TypedDict):
    """A job; `problem` says why its pipeline is invalid, `nextStart` is null while it runs or waits for a person."""

    id: int
    namespace: str
    name: str
    version: int
    wanted: str
    state: str
    runId: str | None
    nextStart: str | None
    problem: str | None


class VersionShape(TypedDict):
    """One version of a job."""

    version: int
    path: str
    settings: Mapping[str, str]
    deployedAt: str
    deployedBy: str | None


class JobWhole(JobShape):
    """A job with its pipeline's text and how the agent runs it."""

    mode: str | None
    restart: str | None
    schedule: str | None
    source: str
    deployed: VersionShape


class StopShape(TypedDict):
    """Why an execution was stopped."""

    reason: str
    by: str | None
    note: str | None


class HealthShape(TypedDict):
    """The delivery of an execution's lineage events; it never affects the pipeline."""

    lineage: str
    delivered: Mapping[str, int]
    waiting: int
    dropped: Mapping[str, int]
    lastError: str | None


class ExecutionShape(TypedDict):
    """One execution; `counters` are those of the run facet `headwater_run`."""

    runId: str
    job: str
    namespace: str
    version: int
    trigger: str
    state: str
    createdAt: str
    startedAt: str | None
    lastSeen: str | None
    endedAt: str | None
    stop: StopShape | None
    error: str | None
    counters: Mapping[str, object]
    health: HealthShape


class TransitionShape(TypedDict):
    """When an execution entered a state."""

    at: str
    state: str


class ExecutionWhole(ExecutionShape):
    """An execution with its transitions."""

    transitions: list[TransitionShape]


class HistoryShape(TypedDict):
    """A job's versions and executions, the newest first."""

    versions: list[VersionShape]
    executions: list[ExecutionShape]


class WorkerShape(TypedDict):
    """The process with Spark, while there is one."""

    pid: int | None
    isFit: bool


class NodeShape(TypedDict):
    """The agent."""

    version: str
    pid: int
    home: str
    startedAt: str
    jobs: int
    executions: Mapping[str, int]
    worker: WorkerShape
    allowedEndpoints: list[str] | None


def job_shape(agent: Agent, job: Job) -> JobShape:
    """A job as it is now."""
    newest = next(iter(agent.store.executions(job.id, limit=1)), None)
    refused = agent.deployed.spec_of(job)
    start = agent.deployed.next_start(job, agent.context.now())
    before_any = "pending" if job.wanted == "active" else "stopped"
    return JobShape(
        id=job.id,
        namespace=job.namespace,
        name=job.name,
        version=job.version,
        wanted=job.wanted,
        state=newest.state if newest is not None else before_any,
        runId=None if newest is None or newest.state in ENDED else newest.run_id,
        nextStart=None if start is None else _time(start.at),
        problem=str(refused) if isinstance(refused, InvalidPipelineError) else None,
    )


def job_whole(agent: Agent, job: Job) -> JobWhole:
    """A job with its pipeline's text and how the agent runs it."""
    deployed = agent.store.version(job.id, job.version)
    checked = agent.deployed.spec_of(job)
    spec = None if isinstance(checked, InvalidPipelineError) else checked
    return JobWhole(
        **job_shape(agent, job),
        mode=None if spec is None else spec.mode,
        restart=None if spec is None else spec.agent.restart,
        schedule=None if spec is None else _schedule(spec.agent.schedule),
        source=deployed.pipeline.source,
        deployed=version_shape(deployed),
    )


def version_shape(one: Version) -> VersionShape:
    """One version of a job."""
    return VersionShape(
        version=one.version,
        path=one.pipeline.path,
        settings=one.pipeline.settings,
        deployedAt=_time(one.deployed_at),
        deployedBy=one.deployed_by,
    )


def execution_shape(agent: Agent, one: Execution) -> ExecutionShape:
    """One execution as it is now."""
    job = agent.store.job(one.job_id)
    stop = None if one.stop is None else StopShape(reason=one.stop.reason, by=one.stop.by, note=one.stop.note)
    return ExecutionShape(
        runId=one.run_id,
        job=job.name,
        namespace=job.namespace,
        version=one.version,
        trigger=one.trigger,
        state=one.state,
        createdAt=_time(one.created_at),
        startedAt=_maybe(one.started_at),
        lastSeen=_maybe(one.last_seen),
        endedAt=_maybe(one.ended_at),
        stop=stop,
        error=one.error,
        counters={key: value for key, value in one.counters.items() if not key.startswith("_")},
        health=_health(one.health),
    )


def execution_whole(agent: Agent, one: Execution) -> ExecutionWhole:
    """One execution with its transitions."""
    came = [TransitionShape(at=_time(each.at), state=each.state) for each in agent.store.transitions(one.run_id)]
    return ExecutionWhole(**execution_shape(agent, one), transitions=came)


def history_shape(agent: Agent, job: Job, limit: int) -> HistoryShape:
    """A job's versions and executions."""
    executions = agent.store.executions(job.id, limit=limit)
    return HistoryShape(
        versions=[version_shape(each) for each in agent.store.versions(job)],
        executions=[execution_shape(agent, one) for one in executions],
    )


def node_shape(agent: Agent) -> NodeShape:
    """The agent as it is now."""
    states = [one.state for one in agent.store.unfinished()]
    endpoints = agent.context.config.allowed_endpoints
    return NodeShape(
        version=VERSION,
        pid=os.getpid(),
        home=str(agent.context.home),
        startedAt=_time(agent.started_at),
        jobs=len(agent.store.jobs()),
        executions={state: states.count(state) for state in sorted(set(states))},
        worker=WorkerShape(pid=agent.engine.pid, isFit=agent.engine.is_fit),
        allowedEndpoints=None if endpoints is None else list(endpoints),
    )


def _schedule(schedule: Schedule | None) -> str | None:
    if schedule is None:
        return None
    return f"every {schedule.every:g} s" if schedule.every is not None else f"{schedule.cron} {schedule.timezone}"


def _health(health: Health) -> HealthShape:
    return HealthShape(
        lineage="good" if health.is_good else "troubled",
        delivered=health.delivered,
        waiting=health.waiting,
        dropped=health.dropped,
        lastError=health.last_error,
    )


def _maybe(time: datetime | None) -> str | None:
    return None if time is None else _time(time)


def _time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
