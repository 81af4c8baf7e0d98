"""What executions that are over have left in the spools: the agent itself sends it on, and tells how that goes."""

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
from headwater.agent.states import DeliveryCounts, Execution, Health
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


def started(store: AgentStore, home: Path, *allowed: str) -> Agent:
    config = AgentConfig(drain_timeout=0.2, allowed_endpoints=allowed or None)
    return Agent(store, AgentContext(home=home, config=config, now=lambda: NOW, new_run_id=new_run_id))


def ended(store: AgentStore, home: Path, out: Path, run_id: str = RUN) -> Execution:
    """An execution that has told two events, which nobody took."""
    pipeline = Pipeline(source=PIPELINE.replace("OUT", str(out)), path=str(home / "daily.yaml"))
    job = store.deploy("edge", "daily", pipeline, NOW, None)
    config = EmitConfig(file=FileConfig(path=out), spool=home / "spool", drain_timeout_s=0.0)
    with Emitter.of_node(config, load_or_create(home)) as emitter:
        for state in (RunState.START, RunState.COMPLETE):
            emitter.put(run_event(state, NOW, OpenLineageRun(runId=run_id), OpenLineageJob("edge", "daily")))
        assert emitter.settle(WITHIN_S)
    one = Execution(run_id=run_id, job_id=job.id, version=job.version, trigger="deploy", created_at=NOW)
    one = replace(one, state="completed", ended_at=NOW, health=Health({}, 2, {}, "no network"))
    store.record(NOW, one)
    return one


async def comes_true(asked: Callable[[], bool]) -> bool:
    for _ in range(round(WITHIN_S / 0.05)):
        if asked():
            return True
        await asyncio.sleep(0.05)
    return False


def served(agent: Agent, asked: Callable[[], bool], *, meanwhile: Callable[[], None] = lambda: None) -> bool:
    """Whether it comes true while the agent serves; it starts no worker."""

    async def serving() -> bool:
        serving = asyncio.create_task(agent.serve())
        meanwhile()
        came = await comes_true(asked)
        assert not agent.engine.is_running
        agent.shut_down()
        await serving
        return came

    return asyncio.run(serving())


def told(out: Path) -> list[tuple[str, str]]:
    lines = out.read_bytes().splitlines() if out.is_file() else []
    return [(one["run"]["runId"], one["eventType"]) for one in map(json.loads, lines)]


def test_what_an_execution_left_is_sent_once_its_target_is_there_and_the_execution_says_so(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    ended(store, tmp_path, out)
    agent = started(store, tmp_path)

    def is_why_known() -> bool:
        return str(out) in (store.execution(RUN).health.last_error or "")

    assert served(agent, is_why_known)
    assert store.execution(RUN).health.waiting == 2
    out.parent.unlink()
    assert served(started(store, tmp_path), lambda: store.execution(RUN).health == Health({"file": 2}))
    assert told(out) == [(RUN, "START"), (RUN, "COMPLETE")]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("headwater-")]


def test_what_an_execution_left_is_sent_though_its_job_is_deleted(store: AgentStore, tmp_path: Path, out: Path) -> None:
    one = ended(store, tmp_path, out)
    store.want(store.job(one.job_id), "deleted")
    assert served(started(store, tmp_path), lambda: not store.jobs())
    out.parent.unlink()

    assert served(started(store, tmp_path), lambda: not store.forgotten_with_waiting())
    assert told(out) == [(RUN, "START"), (RUN, "COMPLETE")]


def test_what_an_execution_left_that_is_remembered_no_more_is_sent(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    one = ended(store, tmp_path, out)
    newer = replace(one, run_id=new_run_id(), version=2, health=Health())
    store.deploy("edge", "daily", Pipeline(source="other", path="/daily.yaml"), NOW, None)
    store.record(NOW, newer)
    store.prune(one.job_id, keep=1)
    out.parent.unlink()

    assert served(started(store, tmp_path), lambda: not store.forgotten_with_waiting())
    assert told(out) == [(RUN, "START"), (RUN, "COMPLETE")]


def test_nothing_is_sent_where_the_agents_file_allows_nothing_any_more(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    ended(store, tmp_path, out)
    text = PIPELINE.replace("transport: file", "transport: both, http: {endpoint: 'http://us.example/api/v1/lineage'}")
    job = store.deploy("edge", "daily", Pipeline(source=text.replace("OUT", str(out)), path="/daily.yaml"), NOW, None)
    store.record(NOW, replace(store.execution(RUN), version=job.version))
    store._db.execute("UPDATE execution SET version = ?", (job.version,))
    out.parent.unlink()
    agent = started(store, tmp_path, "http://eu.example")

    assert served(agent, lambda: "not in the agent" in (store.execution(RUN).health.last_error or ""))
    assert told(out) == []


def test_what_nobody_has_any_more_waits_no_more(store: AgentStore, tmp_path: Path, out: Path) -> None:
    ended(store, tmp_path, out)
    out.parent.unlink()
    config = EmitConfig(file=FileConfig(path=out), spool=tmp_path / "spool", drain_timeout_s=WITHIN_S)
    with Emitter.of_node(config, load_or_create(tmp_path)):
        pass  # another program for the same target, which is faster

    assert served(started(store, tmp_path), lambda: store.execution(RUN).health == Health())


LOST = "01a1fd5c-bf4f-7259-9205-000000000002"


def closed(home: Path, out: Path) -> list[Report]:
    """What a worker reports that tells the end of a lost run."""
    reports: list[Report] = []
    worker = Worker(WorkerSettings(home=home, master="local[1]", spark={}, stop_grace_s=1), reports.append)
    source = PIPELINE.replace("OUT", str(out)).replace("lineage: {", "lineage: {drain_timeout: 2s, ")
    pipeline = Pipeline(source=source, path=str(home / "daily.yaml"))
    worker.obey(Close(run_id=LOST, pipeline=pipeline, is_told=True, started_at=NOW, last_seen=NOW))
    assert eventually(lambda: any(isinstance(one, ClosedRun) for one in reports))
    return reports


def test_a_worker_that_takes_up_what_another_execution_left_tells_what_became_of_it(
    store: AgentStore, tmp_path: Path, out: Path
) -> None:
    ended(store, tmp_path, out)
    out.parent.unlink()

    later, over = closed(tmp_path, out)

    assert later == LateDeliveries(went={RUN: DeliveryCounts({"file": 2}), LOST: DeliveryCounts({"file": 1})})
    assert over == ClosedRun(run_id=LOST)
    agent = started(store, tmp_path)
    assert served(
        agent, lambda: store.execution(RUN).health == Health({"file": 2}), meanwhile=lambda: agent._on_report(later)
    )


def test_the_end_of_a_lost_run_that_nobody_takes_waits_and_is_told_as_waiting(tmp_path: Path, out: Path) -> None:
    (over,) = closed(tmp_path, out)

    assert isinstance(over, ClosedRun)
    assert (over.waiting, str(out) in (over.why or "")) == (1, True)
