"""An edge agent on a real Spark: its runs end in every way a run can end, and each end is reported as what it was."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import RealAgent
from tests.support.event_file import whole_lines
from tests.support.service import eventually

CONFIG = """
master: local[2]
drain_timeout: 20s
max_executions: 1
spark: {spark.driver.memory: 768m}
"""
SILENT = """
name: silent
namespace: edge
input: {generate: {rows: 1}}
output: {file: {path: $OUT/silent, format: json, mode: overwrite}}
lineage: {enabled: false}
"""
BATCH = """
name: daily
namespace: edge
input: {generate: {rows: 10}}
output: {file: {path: $OUT/daily, format: json, mode: overwrite}}
lineage: {transport: file, file: {path: $OUT/events.jsonl}}
agent: {schedule: {every: 1h}}
"""
STREAM = """
name: follow
namespace: edge
mode: stream
input: {generate: {rows_per_second: 5}}
output: {file: {path: $OUT/follow, format: json, mode: append}}
stream: {interval: 500ms}
lineage: {transport: file, running_interval: 1s, file: {path: $OUT/events.jsonl}}
agent: {backoff: {first: 100ms, most: 1s}}
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[RealAgent]:
    agent = RealAgent(tmp_path / "home", CONFIG)
    agent.start()
    try:
        yield agent
    finally:
        if agent.is_running:
            agent.end()


class EventFile:
    """The file that the pipelines write their events to."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, run_id: str) -> list[dict[str, Any]]:
        events = map(json.loads, whole_lines(self._path))
        return [event for event in events if event["run"]["runId"] == run_id]

    def end_of(self, run_id: str) -> tuple[str, dict[str, Any]]:
        """The type of a run's last event, and its counters; the run has one START and one end."""
        events = self.of(run_id)
        types = [event["eventType"] for event in events]
        assert types.count("START") == 1
        assert [kind for kind in types if kind in ("COMPLETE", "ABORT", "FAIL")] == types[-1:]
        return types[-1], events[-1]["run"]["facets"]["headwater_run"]


def test_an_agent_runs_batches_and_streams_and_reports_how_each_run_ended(agent: RealAgent, tmp_path: Path) -> None:
    def deploy(text: str, *settings: str) -> str:
        path = tmp_path / "pipeline.yaml"
        path.write_text(text.replace("$OUT", str(tmp_path)))
        job = json.loads(agent.command("job", "deploy", str(path), "--json", *settings))
        assert eventually(lambda: agent.newest(job["name"])["version"] == job["version"])
        run_id: str = agent.newest(job["name"])["runId"]
        return run_id

    event_file = EventFile(tmp_path / "events.jsonl")

    # Without lineage: no key is made, and no event waits anywhere.
    silent = agent.wait_for(deploy(SILENT), "completed", "failed")
    assert (silent["state"], silent["counters"], silent["health"]["delivered"]) == ("completed", {}, {})
    assert not (agent.home / "keys").exists()
    assert not (agent.home / "spool").exists()

    # A natural end.
    batch = agent.wait_for(deploy(BATCH), "completed", "failed")
    assert (batch["state"], batch["error"], batch["counters"]["recordsOut"]) == ("completed", None, 10)
    assert (batch["health"]["lineage"], batch["health"]["delivered"]["file"] >= 2) == ("good", True)
    assert event_file.end_of(batch["runId"])[0] == "COMPLETE"
    assert "completed" in agent.command("job", "history", "daily")
    assert "writing" in agent.command("job", "logs", "daily")
    assert [job["nextStart"] is not None for job in agent.get("/jobs", name="daily")] == [True]

    # A new version replaces one whose lineage has a target that cannot be reached.
    unreachable = [
        "lineage.transport=both",
        "lineage.http.endpoint=http://127.0.0.1:9/api",
        "lineage.drain_timeout=100ms",
    ]
    first = deploy(STREAM, *(word for setting in unreachable for word in ("--set", setting)))
    degraded = agent.wait_for(first, "degraded")
    assert "Connect" in degraded["health"]["lastError"]
    assert eventually(lambda: agent.execution(first)["counters"].get("recordsOut", 0) > 0), (
        "the pipeline must not be affected"
    )
    second = deploy(STREAM, "--set", "description=better")
    agent.wait_for(second, "running")
    assert agent.execution(first)["stop"]["reason"] == "superseded"
    end, counters = event_file.end_of(first)
    assert (end, counters["stopReason"]) == ("ABORT", "superseded")

    # Spark's JVM dies: the agent goes on, and starts another one.
    agent.jvm().kill()
    assert agent.wait_for(second, "failed")["stop"] is None
    assert event_file.end_of(second)[0] == "FAIL"
    assert eventually(lambda: agent.newest("follow")["runId"] != second)
    again = agent.newest("follow")["runId"]
    agent.wait_for(again, "running")

    # At most one execution runs at a time, so another waits; then a person stops the running one.
    waiting = json.loads(agent.command("job", "rerun", "silent", "--json"))["runId"]
    assert agent.execution(waiting)["state"] == "pending"
    agent.command("job", "stop", "follow", "--why", "the shop is closed")
    stopped = agent.wait_for(again, "stopped")
    assert agent.wait_for(waiting, "completed")["startedAt"] >= stopped["endedAt"]
    end, counters = event_file.end_of(again)
    assert (end, counters["stopReason"], counters["stopNote"]) == ("ABORT", "stopped", "the shop is closed")
    assert counters["stoppedBy"] == stopped["stop"]["by"]
    assert [step["state"] for step in stopped["transitions"]][-2:] == ["stopping", "stopped"]

    # A crash.
    third = json.loads(agent.command("job", "rerun", "follow", "--json"))["runId"]
    agent.wait_for(third, "running")
    assert eventually(lambda: agent.execution(third)["counters"].get("recordsOut", 0) > 0)
    agent.end(signal.SIGKILL)
    agent.start()
    crashed = agent.wait_for(third, "failed")
    assert eventually(lambda: event_file.of(third)[-1]["eventType"] == "FAIL")
    end, counters = event_file.end_of(third)
    assert (end, counters["stopReason"], crashed["stop"]["reason"]) == ("FAIL", "crashed", "crashed")
    assert event_file.of(third)[-1]["eventTime"][:23] == crashed["lastSeen"].removesuffix("Z")  # milliseconds

    # The stream runs again, and a shutdown is yet another reason.
    fourth = agent.newest("follow")["runId"]
    assert fourth != third
    agent.wait_for(fourth, "running")
    assert agent.end() == 0
    end, counters = event_file.end_of(fourth)
    assert (end, counters["stopReason"]) == ("ABORT", "shutdown")
