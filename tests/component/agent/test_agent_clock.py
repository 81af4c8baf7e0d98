"""When the agent starts jobs, on a machine whose clock is set back and forth, and whose jobs come and go."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.agent.config import AgentConfig
from headwater.agent.loop import Agent, AgentContext
from headwater.agent.messages import Pipeline
from headwater.agent.states import Execution
from headwater.agent.store import AgentStore, Job
from headwater.emission import new_run_id

NOW = datetime(2026, 5, 22, 14, 0, tzinfo=UTC)
AHEAD = NOW + timedelta(days=400)
MINUTE = timedelta(minutes=1)


def pipeline(agent: str, name: str = "orders") -> Pipeline:
    text = (
        f"{{name: {name}, namespace: edge, input: {{generate: {{rows: 1}}}}, output: {{stdout: {{}}}}, agent: {agent}}}"
    )
    return Pipeline(source=text, path="/edge/orders.yaml")


class Clock:
    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def agent(tmp_path: Path, clock: Clock) -> Iterator[Agent]:
    with AgentStore(tmp_path / "agent.db") as store:
        yield Agent(store, AgentContext(home=tmp_path, config=AgentConfig(), now=clock, new_run_id=new_run_id))


def record_ended(agent: Agent, job: Job, at: datetime, state: str = "completed") -> Execution:
    """Record an execution that ended, as of this time of the clock."""
    created = Execution(run_id=new_run_id(), job_id=job.id, version=job.version, trigger="schedule", created_at=at)
    over = replace(created, state=state, started_at=at, ended_at=at + MINUTE / 2)  # type: ignore[arg-type]
    agent.store.record(at, over)
    return over


def starts_at(agent: Agent, job: Job, clock: Clock) -> datetime | None:
    start = agent.deployed.next_start(job, clock())
    return None if start is None else start.at


@pytest.mark.parametrize(
    ("policy", "state", "wait"),
    [
        ("{schedule: {every: 10m}}", "completed", 10 * MINUTE),
        ("{schedule: {cron: '*/30 * * * *'}}", "completed", 30 * MINUTE),
        ("{backoff: {first: 5m}}", "failed", 5 * MINUTE),
    ],
)
def test_a_clock_that_is_set_back_by_a_year_delays_no_start_by_a_year(
    agent: Agent, clock: Clock, policy: str, state: str, wait: timedelta
) -> None:
    clock.time = AHEAD
    job = agent.deploy(pipeline(policy), None)
    record_ended(agent, job, AHEAD, state)
    clock.time = NOW

    planned = [starts_at(agent, job, clock)]
    clock.time = NOW + 2 * MINUTE
    planned.append(starts_at(agent, job, clock))

    clock.time = NOW + wait
    record_ended(agent, job, NOW + wait, state)
    following = starts_at(agent, job, clock)

    assert planned == [NOW + wait, NOW + wait]
    assert following is not None
    assert timedelta(0) < following - clock() <= 3 * wait


def test_a_job_that_was_deployed_before_the_clock_was_set_back_starts_all_the_same(agent: Agent, clock: Clock) -> None:
    clock.time = AHEAD
    job = agent.deploy(pipeline("{restart: never}"), None)

    clock.time = NOW

    assert starts_at(agent, job, clock) == NOW


def test_a_correction_of_the_clock_by_a_second_starts_nothing_twice(agent: Agent, clock: Clock) -> None:
    job = agent.deploy(pipeline("{schedule: {cron: '0 * * * *'}}"), None)
    record_ended(agent, job, NOW - MINUTE)
    record_ended(agent, job, NOW)

    clock.time = NOW - timedelta(seconds=1)

    assert starts_at(agent, job, clock) == NOW + 60 * MINUTE


def test_the_newest_execution_is_the_last_one_created_whatever_the_clock_showed(agent: Agent) -> None:
    job = agent.deploy(pipeline("{restart: never}"), None)

    runs = [record_ended(agent, job, at).run_id for at in (AHEAD, NOW, NOW - MINUTE)]

    assert [execution.run_id for execution in agent.store.executions(job.id)] == runs[::-1]
    assert agent.store.prune(job.id, keep=1) == runs[:2]


def test_a_job_that_gets_the_id_of_a_deleted_job_shares_nothing_else_with_it(agent: Agent) -> None:
    def let_it_serve() -> None:
        async def for_a_moment() -> None:
            asyncio.get_running_loop().call_later(0.1, agent.shut_down)
            await agent.serve()

        asyncio.run(for_a_moment())

    first = agent.deploy(pipeline("{schedule: {cron: '0 3 1 1 *'}}"), None)
    agent.deployed.spec_of(first)
    agent.delete(first, None, None)
    let_it_serve()

    second = agent.deploy(pipeline("{schedule: {cron: '0 4 * * *'}}", name="invoices"), None)

    spec = agent.deployed.spec_of(second)
    assert not isinstance(spec, Exception)
    assert (second.id, spec.name, spec.agent.schedule and spec.agent.schedule.cron) == (
        first.id,
        "invoices",
        "0 4 * * *",
    )


def test_a_worker_that_ended_since_nothing_ran_delays_no_later_one(tmp_path: Path, clock: Clock) -> None:
    config = AgentConfig(idle_timeout=0.0)
    context = AgentContext(home=tmp_path, config=config, now=clock, new_run_id=new_run_id, monotonic=lambda: 0.0)

    async def close_one_after_the_other(agent: Agent) -> list[str]:
        serving = asyncio.create_task(agent.serve())
        job = agent.deploy(pipeline("{restart: never}, lineage: {enabled: false}"), None)
        agent.stop(job, None, None)
        for _ in range(2):
            lost = replace(record_ended(agent, job, NOW), run_id=new_run_id(), state="lost", ended_at=None)
            agent.store.record(NOW, lost)
            agent.stop(job, None, None)  # wakes it
            async with asyncio.timeout(60):
                while agent.store.execution(lost.run_id).state == "lost" or agent.engine.is_running:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        agent.shut_down()
        await serving
        return [one.state for one in agent.store.executions(job.id) if one.error]

    with AgentStore(tmp_path / "agent.db") as store:
        closed = asyncio.run(close_one_after_the_other(Agent(store, context)))

    assert closed == ["failed", "failed"]
