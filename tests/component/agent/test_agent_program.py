"""The agent as a program, as far as it goes without Spark: sockets, tokens, locks, and what a crash left open."""

import json
import os
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from headwater.agent.messages import Pipeline, RunEnded
from headwater.agent.outcomes import save_outcome
from headwater.agent.states import Execution, Health, State
from headwater.agent.store import AgentStore
from tests.support.agent import RealAgent
from tests.support.event_file import whole_lines
from tests.support.ports import free_port
from tests.support.program import COMMAND
from tests.support.service import eventually

TOKEN = "s3cret"  # noqa: S105  of this test alone
SEEN = datetime(2026, 5, 22, 14, 23, 11, 250_000, tzinfo=UTC)
PIPELINE = """
name: orders
namespace: edge
input: {generate: {rows: 1}}
output: {stdout: {rows: 1}}
lineage: {transport: file, file: {path: events.jsonl}}
agent: {restart: never}
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[RealAgent]:
    port = free_port()
    agent = RealAgent(
        tmp_path / "home", f"http: {{port: {port}, token_env: AGENT_TOKEN}}\nidle_timeout: 1s", AGENT_TOKEN=TOKEN
    )
    yield agent
    if agent.is_running:
        agent.end()


def left_running(agent: RealAgent, *run_ids: str, state: State = "running") -> None:
    """Fill the database as after a kill of the agent while these runs were running, or in another state."""
    folder = agent.home / "agent"
    folder.mkdir()
    with AgentStore(folder / "agent.db") as store:
        pipeline = Pipeline(source=PIPELINE, path=str(agent.home / "orders.yaml"))
        job = store.deploy("edge", "orders", pipeline, SEEN, None)
        for run_id in run_ids:
            execution = Execution(run_id=run_id, job_id=job.id, version=1, trigger="deploy", created_at=SEEN)
            running = replace(
                execution, state=state, started_at=SEEN, last_seen=SEEN, counters={"recordsOut": 7, "bytesOut": None}
            )
            store.record(SEEN, running)


def test_the_agent_is_reached_by_its_own_user_and_by_anyone_with_the_token(agent: RealAgent) -> None:
    line = agent.start()

    url = line.split()[-1]
    socket = agent.home / "agent" / "agent.sock"
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert agent.get("/node")["jobs"] == 0
    assert httpx.get(f"{url}/api/v1/node").status_code == 401
    response = httpx.get(f"{url}/api/v1/node", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.json()["worker"] == {"pid": None, "isFit": False}
    assert "Spark is not started" in agent.command("node", "describe")
    assert agent.end() == 0


def test_a_deletion_prints_the_job_as_json(agent: RealAgent) -> None:
    agent.start()
    file = agent.home / "orders.yaml"
    file.write_text(PIPELINE.replace("restart: never", "schedule: {every: 1h}"))
    agent.command("job", "deploy", str(file))

    answer = json.loads(agent.command("job", "delete", "orders", "--json"))

    assert (answer["namespace"], answer["name"], answer["wanted"]) == ("edge", "orders", "deleted")


def test_a_job_is_described_in_lines_and_shown_as_stopped_once(agent: RealAgent) -> None:
    left_running(agent, run_id := "01a1fd5c-bf4f-7259-9205-000000000001", state="stopped")
    agent.start()
    agent.command("job", "stop", "orders")

    described = agent.command("job", "describe", "orders").splitlines()
    history = agent.command("job", "history", "orders").splitlines()
    counted = agent.command("execution", "describe", run_id).splitlines()[1]

    execution = f"{run_id}  edge/orders  version 1  stopped  deploy  2026-05-22T14:23:11.250Z"
    assert described == [
        "edge/orders  version 1  stopped",
        "  batch, no schedule, restart never",
        f"  version 1 of {agent.home}/orders.yaml, deployed 2026-05-22T14:23:11.250Z",
        f"  newest: {execution}",
    ]
    assert history == ["version 1  deployed 2026-05-22T14:23:11.250Z", execution]
    assert counted == "  counters  recordsOut 7"  # a value that was not counted is not shown


def test_a_job_whose_pipeline_is_refused_is_described_by_the_reason(agent: RealAgent) -> None:
    (agent.home / "agent").mkdir()
    with AgentStore(agent.home / "agent" / "agent.db") as store:
        store.deploy("edge", "orders", Pipeline(source=PIPELINE + "mode: fast", path="/orders.yaml"), SEEN, "ann")
    agent.start()

    described = agent.command("job", "describe", "orders").splitlines()

    assert described == [
        "edge/orders  version 1  pending",
        "  refused: /orders.yaml:8:7: mode: expected batch or stream, found 'fast'",
        "  version 1 of /orders.yaml, deployed 2026-05-22T14:23:11.250Z by ann",
    ]


def test_a_post_that_offers_http_2_is_accepted_with_its_body(agent: RealAgent) -> None:
    url = agent.start().split()[-1]
    offer = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAEAAEAAAAIAAAAB"}

    response = httpx.post(
        f"{url}/api/v1/jobs",
        json={"source": "name: orders\nnamspace: edge\n"},
        headers={"Authorization": f"Bearer {TOKEN}", **offer},
    )

    assert "namspace" in response.json()["message"]


def test_a_second_agent_on_the_same_home_is_refused(agent: RealAgent) -> None:
    agent.start()

    result = subprocess.run(
        [*COMMAND, "agent"],
        env={**os.environ, "HEADWATER_HOME": str(agent.home)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert result.returncode == 2
    assert f"another agent runs on this HEADWATER_HOME (process {agent.pid})" in result.stderr
    assert agent.get("/node")["pid"] == agent.pid


def test_an_agent_ends_in_order_when_its_terminal_is_closed(agent: RealAgent) -> None:
    agent.start()

    assert agent.end(signal.SIGHUP) == 0


def test_a_run_left_open_by_a_crash_is_closed_as_of_when_it_was_last_seen_and_an_ended_run_is_not(
    agent: RealAgent,
) -> None:
    open_run, ended_run = "01a1fd5c-bf4f-7259-9205-000000000001", "01a1fd5c-bf4f-7259-9205-000000000002"
    left_running(agent, open_run, ended_run)
    over = RunEnded(run_id=ended_run, end="COMPLETE", error=None, counters={}, health=Health(), at=SEEN)
    save_outcome(agent.home, over)

    agent.start()

    closed = agent.wait_for(open_run, "failed")
    assert (closed["stop"]["reason"], closed["endedAt"]) == ("crashed", "2026-05-22T14:23:11.250Z")
    assert agent.execution(ended_run)["state"] == "completed"
    events = [json.loads(line) for line in whole_lines(agent.home / "events.jsonl")]
    emitted = [(event["eventType"], event["run"]["runId"], event["eventTime"]) for event in events]
    assert ("FAIL", open_run, "2026-05-22T14:23:11.250000Z") in emitted
    assert ended_run not in {run_id for _, run_id, _ in emitted}
    fail = next(event for event in events if event["eventType"] == "FAIL")
    counters = fail["run"]["facets"]["headwater_run"]
    assert (counters["stopReason"], counters["recordsOut"], counters["errorCount"]) == ("crashed", 7, 1)
    assert "signature" in fail["run"]["facets"]
    assert eventually(lambda: agent.get("/node")["worker"]["pid"] is None), "the idle worker did not end"


def a_file(home: Path) -> None:
    home.write_text("no folder")


def a_folder_for_a_lock(home: Path) -> None:
    (home / "agent" / "lock").mkdir(parents=True)


def a_folder_for_a_socket(home: Path) -> None:
    (home / "agent" / "agent.sock").mkdir(parents=True)


@pytest.mark.parametrize("make_unusable", [a_file, a_folder_for_a_lock, a_folder_for_a_socket])
def test_a_home_that_cannot_be_used_is_reported_in_one_sentence(
    tmp_path: Path, make_unusable: Callable[[Path], None]
) -> None:
    home = tmp_path / "home"
    make_unusable(home)
    environment = {**os.environ, "HEADWATER_HOME": str(home)}

    result = subprocess.run([*COMMAND, "agent"], env=environment, capture_output=True, text=True, timeout=60)

    assert result.returncode == 2
    assert result.stderr.startswith("headwater: ")
    assert str(home) in result.stderr
    assert "Traceback" not in result.stderr


def test_a_refused_pipeline_is_reported_with_a_line_for_each_problem_as_by_run_and_lint(agent: RealAgent) -> None:
    agent.start()
    file = agent.home / "wrong.yaml"
    file.write_text(
        "name: orders\nnamespace: edge\ninput: {generate: {rows: 1}}\noutput: {stdout: {rows: no}}\nowner: 7\n"
    )

    result = subprocess.run(
        [*COMMAND, "job", "deploy", str(file)], env=agent.variables, capture_output=True, text=True, timeout=60
    )

    assert result.returncode == 2
    first, second = result.stderr.removeprefix("headwater: ").splitlines()
    assert first.startswith(f"{file}:4:")
    assert second.startswith(f"{file}:5:")
