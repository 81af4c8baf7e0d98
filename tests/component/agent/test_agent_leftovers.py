"""Events that ended executions left in the spools: the agent sends them itself, and reports their delivery."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from openlineage.client.event_v2 import Job as OpenLineageJob
from openlineage.client.event_v2 import Run as OpenLineageRun
from openlineage.client.event_v2 import RunState

from headwater.agent.config import AgentConfig
from headwater.agent.loop import Agent, AgentContext
from headwater.agent.messages import Close, ClosedRun, LateDeliveries, Pipeline, Report
from headwater.agent.states import DeliveryCounts, Execution, Health, State
from headwater.agent.store import AgentStore
from headwater.agent.worker import Worker
from headwater.agent.worker_settings import WorkerSettings
from headwater.emission import new_run_id
from headwater.emit.config import EmitConfig, FileConfig
from headwater.emit.emitter import Emitter
from headwater.model.build import run_event
from headwater.signing.keyfile import load_or_create
from tests.support.service import eventually

NOW = datetime(2026, 5, 22, 14, 0, tzinfo=UTC)
RUN = "01a1fd5c-bf4f-7259-9205-000000000001"
WITHIN_S = 30.0
PIPELINE = """
name: daily
namespace: edge
input: {generate: {rows: 1}}
output: {stdout: {rows: 1}}
lineage: {transport: file, file: {path: OUT}}
agent: {schedule: {every: 24h}}
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AgentStore]:
    with AgentStore(tmp_path / "agent.db") as store:
        yield store


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A file for events whose folder cannot be made, since there is a file in its place."""
    (tmp_path / "out").write_text("in the way")
    return tmp_path / "out" / "events.jsonl"


def agent_of(store: AgentStore, home: Path, *allowed: str) -> Agent:
    config = AgentConfig(drain_timeout=0.2, allowed_endpoints=allowed or None)
    return Agent(store, AgentContext(home=home, config=config, now=lambda: NOW, new_run_id=new_run_id))


def ended_execution(store: AgentStore, home: Path, out: Path, run_id: str = RUN) -> Execution:
    """An ended execution that emitted two events, which are not delivered yet."""
    pipeline = Pipeline(source=PIPELINE.replace("OUT", str(out)), path=str(home / "daily.yaml"))
    job = store.deploy("edge", "daily", pipeline, NOW, None)
    config = EmitConfig(file=FileConfig(path=out), spool=home / "spool", drain_timeout_s=0.0)
    with Emitter.of_node(config, load_or_create(home)) as emitter:
        for state in (RunState.START, RunState.COMPLETE):
            emitter.put(run_event(state, NOW, OpenLineageRun(runId=run_id), OpenLineageJob("edge", "daily")))
        assert emitter.settle(WITHIN_S)
    execution = Execution(run_id=run_id, job_id=job.id, version=job.version, trigger="deploy", created_at=NOW)
    execution = replace(execution, state="completed", ended_at=NOW, health=Health({}, 2, {}, "no network"))
    store.record(NOW, execution)
    return execution


async def comes_true(condition: Callable[[], bool]) -> bool:
    for _ in range(round(WITHIN_S / 0.05)):
        if condition():
            return True
        await asyncio.sleep(0.05)
    return False


def served(agent: Agent, condition: Callable[[], bool], *, meanwhile: Callable[[], None] = lambda: None) -> bool:
    """Whether the condition comes true while the agent serves; it starts no worker."""

    async def serving() -> bool:
        task = asyncio.create_task(agent.serve())
        meanwhile()
        is_true = await comes_true(condition)
        assert not agent.engine.is_running
        agent.shut_down()
        await task
        return is_true

    return asyncio.run(serving())


def emitted(out: Path) -> list[tuple[str, str]]:
    lines = out.read_bytes().splitlines() if out.is_file() else []
    return [(event["run"]["runId"], event["eventType"]) for event in map(json.loads, lines)]


def test_leftover_events_are_sent_once_their_target_is_available_and_the_execution_shows_it(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    ended_execution(store, tmp_path, out)
    agent = agent_of(store, tmp_path)

    def is_why_known() -> bool:
        return str(out) in (store.execution(RUN).health.last_error or "")

    assert served(agent, is_why_known)
    assert store.execution(RUN).health.waiting == 2
    out.parent.unlink()
    assert served(agent_of(store, tmp_path), lambda: store.execution(RUN).health == Health({"file": 2}))
    assert emitted(out) == [(RUN, "START"), (RUN, "COMPLETE")]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("headwater-")]


def test_leftover_events_are_sent_although_their_job_is_deleted(store: AgentStore, tmp_path: Path, out: Path) -> None:
    execution = ended_execution(store, tmp_path, out)
    store.want(store.job(execution.job_id), "deleted")
    assert served(agent_of(store, tmp_path), lambda: not store.jobs())
    out.parent.unlink()

    assert served(agent_of(store, tmp_path), lambda: not store.forgotten_with_waiting())
    assert emitted(out) == [(RUN, "START"), (RUN, "COMPLETE")]


def test_leftover_events_of_a_pruned_execution_are_sent(store: AgentStore, tmp_path: Path, out: Path) -> None:
    execution = ended_execution(store, tmp_path, out)
    newer = replace(execution, run_id=new_run_id(), version=2, health=Health())
    store.deploy("edge", "daily", Pipeline(source="other", path="/daily.yaml"), NOW, None)
    store.record(NOW, newer)
    store.prune(execution.job_id, keep=1)
    out.parent.unlink()

    assert served(agent_of(store, tmp_path), lambda: not store.forgotten_with_waiting())
    assert emitted(out) == [(RUN, "START"), (RUN, "COMPLETE")]


def test_nothing_is_sent_to_an_endpoint_that_the_agents_file_no_longer_allows(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    ended_execution(store, tmp_path, out)
    text = PIPELINE.replace("transport: file", "transport: both, http: {endpoint: 'http://us.example/api/v1/lineage'}")
    job = store.deploy("edge", "daily", Pipeline(source=text.replace("OUT", str(out)), path="/daily.yaml"), NOW, None)
    store.record(NOW, replace(store.execution(RUN), version=job.version))
    store._db.execute("UPDATE execution SET version = ?", (job.version,))
    out.parent.unlink()
    agent = agent_of(store, tmp_path, "http://eu.example")

    assert served(agent, lambda: "not in the agent" in (store.execution(RUN).health.last_error or ""))
    assert emitted(out) == []


@pytest.mark.parametrize("state", ["pending", "running"])
def test_an_execution_from_before_the_agent_s_file_was_narrowed_neither_runs_nor_sends_its_end(
    store: AgentStore, tmp_path: Path, state: State
) -> None:
    source = PIPELINE.replace("transport: file, file: {path: OUT}", "http: {endpoint: 'http://us.example/api'}")
    job = store.deploy("edge", "daily", Pipeline(source=source, path=str(tmp_path / "daily.yaml")), NOW, None)
    execution = Execution(run_id=RUN, job_id=job.id, version=job.version, trigger="deploy", created_at=NOW)
    began = None if state == "pending" else NOW
    store.record(NOW, replace(execution, state=state, started_at=began, last_seen=began))
    agent = agent_of(store, tmp_path, "http://eu.example")

    async def ended() -> bool:
        task = asyncio.create_task(agent.serve())
        is_over = await comes_true(lambda: store.execution(RUN).is_over)
        agent.shut_down()
        await task
        return is_over

    assert asyncio.run(ended())
    assert store.execution(RUN).state == "failed"
    assert "http://us.example:80/api is not in the agent's allowed_endpoints" in (store.execution(RUN).error or "")
    assert not list(tmp_path.glob("spool/http-*/[0-9]*"))


def test_leftover_events_that_another_program_sent_no_longer_count_as_waiting(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    ended_execution(store, tmp_path, out)
    out.parent.unlink()
    config = EmitConfig(file=FileConfig(path=out), spool=tmp_path / "spool", drain_timeout_s=WITHIN_S)
    with Emitter.of_node(config, load_or_create(tmp_path)):
        pass  # another program for the same target, which is faster

    assert served(agent_of(store, tmp_path), lambda: store.execution(RUN).health == Health())


LOST = "01a1fd5c-bf4f-7259-9205-000000000002"


def reports_of_closing(home: Path, out: Path) -> list[Report]:
    """The reports of a worker that emits the end of a lost run."""
    reports: list[Report] = []
    worker = Worker(WorkerSettings(home=home, master="local[1]", spark={}, stop_grace_s=1), reports.append)
    source = PIPELINE.replace("OUT", str(out)).replace("lineage: {", "lineage: {drain_timeout: 2s, ")
    pipeline = Pipeline(source=source, path=str(home / "daily.yaml"))
    worker.obey(Close(run_id=LOST, pipeline=pipeline, is_told=True, started_at=NOW, last_seen=NOW))
    assert eventually(lambda: any(isinstance(report, ClosedRun) for report in reports))
    return reports


def test_a_worker_that_sends_leftover_events_of_another_execution_reports_their_delivery(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    ended_execution(store, tmp_path, out)
    out.parent.unlink()

    later, over = reports_of_closing(tmp_path, out)

    assert later == LateDeliveries(went={RUN: DeliveryCounts({"file": 2}), LOST: DeliveryCounts({"file": 1})})
    assert over == ClosedRun(run_id=LOST)
    agent = agent_of(store, tmp_path)
    assert served(
        agent, lambda: store.execution(RUN).health == Health({"file": 2}), meanwhile=lambda: agent._on_report(later)
    )


def test_an_undelivered_end_of_a_lost_run_is_reported_as_waiting(tmp_path: Path, out: Path) -> None:
    (over,) = reports_of_closing(tmp_path, out)

    assert isinstance(over, ClosedRun)
    assert (over.waiting, str(out) in (over.why or "")) == (1, True)
