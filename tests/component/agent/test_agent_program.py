"""The agent as a program, as far as it goes without Spark: sockets, tokens, locks, and what a crash left open."""

import json
import os
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
    """What the database holds after an agent was killed while these ran, or were in another state."""
    folder = agent.home / "agent"
    folder.mkdir()
    with AgentStore(folder / "agent.db") as store:
        pipeline = Pipeline(source=PIPELINE, path=str(agent.home / "orders.yaml"))
        job = store.deploy("edge", "orders", pipeline, SEEN, None)
        for run_id in run_ids:
            one = Execution(run_id=run_id, job_id=job.id, version=1, trigger="deploy", created_at=SEEN)
            running = replace(
                one, state=state, started_at=SEEN, last_seen=SEEN, counters={"recordsOut": 7, "bytesOut": None}
            )
            store.record(SEEN, running)


def test_it_is_reached_by_its_own_user_and_by_whoever_has_the_token(agent: RealAgent) -> None:
    said = agent.start()

    url = said.split()[-1]
    socket = agent.home / "agent" / "agent.sock"
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert agent.get("/node")["jobs"] == 0
    assert httpx.get(f"{url}/api/v1/node").status_code == 401
    answer = httpx.get(f"{url}/api/v1/node", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.json()["worker"] == {"pid": None, "isFit": False}
    assert "Spark is not started" in agent.command("node", "describe")
    assert agent.end() == 0


def test_a_deletion_answers_a_script_with_the_job(agent: RealAgent) -> None:
    agent.start()
    file = agent.home / "orders.yaml"
    file.write_text(PIPELINE.replace("restart: never", "schedule: {every: 1h}"))
    agent.command("job", "deploy", str(file))

    told = json.loads(agent.command("job", "delete", "orders", "--json"))

    assert (told["namespace"], told["name"], told["wanted"]) == ("edge", "orders", "deleted")


def test_a_job_is_described_in_lines_and_said_to_be_stopped_once(agent: RealAgent) -> None:
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
    assert counted == "  counters  recordsOut 7"  # what nobody counted is not told


def test_a_post_that_offers_http_2_is_taken_with_its_body(agent: RealAgent) -> None:
    url = agent.start().split()[-1]
    offer = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAEAAEAAAAIAAAAB"}

    answer = httpx.post(
        f"{url}/api/v1/jobs",
        json={"source": "name: orders\nnamspace: edge\n"},
        headers={"Authorization": f"Bearer {TOKEN}", **offer},
    )

    assert "namspace" in answer.json()["message"]


def test_a_second_agent_on_the_same_home_is_refused(agent: RealAgent) -> None:
    agent.start()

    second = subprocess.run(
        [*COMMAND, "agent"],
        env={**os.environ, "HEADWATER_HOME": str(agent.home)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert second.returncode == 2
    assert f"another agent runs on this HEADWATER_HOME (process {agent.pid})" in second.stderr
    assert agent.get("/node")["pid"] == agent.pid


def test_what_a_crash_left_open_is_closed_for_the_time_it_was_last_seen_and_what_had_ended_is_not(
    agent: RealAgent,
) -> None:
    open_run, ended_run = "01a1fd5c-bf4f-7259-9205-000000000001", "01a1fd5c-bf4f-7259-9205-000000000002"
    left_running(agent, open_run, ended_run)
    over = RunEnded(run_id=ended_run, end="COMPLETE", error=None, counters={}, health=Health(), at=SEEN)
    save_outcome(agent.home, over)

    agent.start()

    closed = agent.comes_to(open_run, "failed")
    assert (closed["stop"]["reason"], closed["endedAt"]) == ("crashed", "2026-05-22T14:23:11.250Z")
    assert agent.execution(ended_run)["state"] == "completed"
    events = [json.loads(line) for line in (agent.home / "events.jsonl").read_bytes().splitlines()]
    told = [(event["eventType"], event["run"]["runId"], event["eventTime"]) for event in events]
    assert ("FAIL", open_run, "2026-05-22T14:23:11.250000Z") in told
    assert ended_run not in {run_id for _, run_id, _ in told}
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


@pytest.mark.parametrize("strange", [a_file, a_folder_for_a_lock, a_folder_for_a_socket])
def test_a_home_that_cannot_be_used_is_told_in_one_sentence(tmp_path: Path, strange: Callable[[Path], None]) -> None:
    home = tmp_path / "home"
    strange(home)
    environment = {**os.environ, "HEADWATER_HOME": str(home)}

    done = subprocess.run([*COMMAND, "agent"], env=environment, capture_output=True, text=True, timeout=60)

    assert done.returncode == 2
    assert done.stderr.startswith("headwater: ")
    assert str(home) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pipeline_that_is_refused_is_told_as_run_and_lint_do_a_line_for_each_problem(agent: RealAgent) -> None:
    agent.start()
    file = agent.home / "wrong.yaml"
    file.write_text(
        "name: orders\nnamespace: edge\ninput: {generate: {rows: 1}}\noutput: {stdout: {rows: no}}\nowner: 7\n"
    )

    done = subprocess.run(
        [*COMMAND, "job", "deploy", str(file)], env=agent.variables, capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 2
    first, second = done.stderr.removeprefix("headwater: ").splitlines()
    assert first.startswith(f"{file}:4:")
    assert second.startswith(f"{file}:5:")
