"""Every way a Flink job can end, watched on a real cluster on which OpenLineage's own listener reports, too.

One scenario on one cluster, since a start takes 15 s. The cluster is highly available, so that a
JobManager that was killed can come back with its jobs.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import yaml

from headwater.lab.flink import FLINK_HOME, MORE_SETTINGS, PYTHON
from headwater.lab.lab import Lab
from tests.support.flink_lab import running_flink
from tests.support.ports import free_ports
from tests.support.service import Service, eventually, running
from tests.support.spec import Specification
from tests.support.watch import Watch

SUBMIT: Final = Path(__file__).parents[1] / "support" / "flink_submit.py"
NAMESPACE: Final = "shop"
GENERATED: Final = "CREATE TABLE {} (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '50'{})"
COUNTED: Final = ", 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100'"
WORK: Final = {
    "tables": [
        GENERATED.format("endless", ""),
        GENERATED.format("hundred", COUNTED),
        "CREATE TABLE hole (id INT) WITH ('connector' = 'blackhole')",
    ],
    "jobs": {
        "done": "INSERT INTO hole SELECT id FROM hundred",
        "cancelled": "INSERT INTO hole SELECT id FROM endless",
        "stopped": "INSERT INTO hole SELECT id FROM endless",
        "survivor": "INSERT INTO hole SELECT id FROM endless",
        "failing": "INSERT INTO hole SELECT 10 / (id - 50) FROM hundred",
    },
}


@dataclass
class Scenario:
    """The cluster, its watcher and its service."""

    lab: Lab
    service: Service
    watch: Watch
    jobs: Mapping[str, str]
    """Ids by name."""

    def request(self, method: str, path: str, **body: object) -> None:
        httpx.request(method, f"{self.lab.address('jobmanager')}/jobs{path}", json=body, timeout=30).raise_for_status()

    def cancel(self, job: str) -> None:
        self.request("PATCH", f"/{self.jobs[job]}?mode=cancel")

    def get(self, path: str) -> dict[str, Any]:
        """What the service answers; empty if it does not know the path."""
        response = httpx.get(f"{self.service.url}/api/v1{path}", timeout=30)
        body: dict[str, Any] = response.json() if response.is_success else {}
        return body

    def run(self, job: str) -> dict[str, Any]:
        """The job's only run that the watcher reported, as the service shows it."""
        ids = {event["run"]["runId"] for event in self.watch.events(job)}
        return self.get(f"/jobs/runs/{ids.pop()}") if len(ids) == 1 else {}

    def await_states(self, **states: str) -> None:
        """Wait until each job has one run from the watcher, in this state."""
        shown = {}

        def is_so() -> bool:
            shown.update({job: self.run(job).get("state") for job in states})
            return shown == states

        assert eventually(is_so), shown

    def reports_end(self, job: str, end: str) -> bool:
        """Whether the watcher reports that end in time: the listener may have reported it before."""
        return eventually(lambda: self.watch.transitions(job)[-1:] == [end])


@contextmanager
def zookeeper(folder: Path) -> Iterator[str]:
    """The ZooKeeper that Flink ships; yields its address."""
    (port,) = free_ports(1)
    (folder / "data").mkdir(parents=True)
    addresses = f"dataDir={folder / 'data'}\nclientPort={port}\nclientPortAddress=127.0.0.1"
    (folder / "zoo.cfg").write_text(f"tickTime=500\nadmin.enableServer=false\n{addresses}\n")
    server = "org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain"
    command = ["java", "-Xmx64m", "-XX:+UseSerialGC", "-cp", f"{FLINK_HOME}/lib/*", server, str(folder / "zoo.cfg")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(30)


def settings(quorum: str, folder: Path, service: Service) -> dict[str, object]:
    """High availability, and OpenLineage's listener in the JobManager."""
    listener = "io.openlineage.flink.listener.OpenLineageJobStatusChangedListenerFactory"
    return {
        "high-availability.type": "zookeeper",
        "high-availability.zookeeper.quorum": quorum,
        "high-availability.zookeeper.client.session-timeout": "3 s",
        "high-availability.storageDir": f"file://{folder / 'ha'}",
        "execution.job-status-changed-listeners": listener,
        "openlineage.flink.enableDetachedJobTracking": "true",
        "openlineage.trackingIntervalInSeconds": "1",
        "openlineage.transport.type": "http",
        "openlineage.transport.url": service.url,
        "openlineage.job.namespace": NAMESPACE,
    }


def submit(lab: Lab) -> dict[str, str]:
    command = [str(PYTHON), str(SUBMIT), lab.address("jobmanager")]
    result = subprocess.run(command, input=json.dumps(WORK), capture_output=True, text=True, timeout=180)
    assert result.returncode == 0, result.stderr
    ids: dict[str, str] = json.loads(result.stdout.splitlines()[-1])
    return ids


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scenario]:
    with running(tmp_path / "service") as service, zookeeper(tmp_path / "zookeeper") as quorum:
        more_settings = tmp_path / "flink.yaml"
        more_settings.write_text(yaml.safe_dump(settings(quorum, tmp_path, service)))
        monkeypatch.setenv(MORE_SETTINGS, str(more_settings))
        with running_flink(tmp_path / "lab") as lab:
            url = lab.address("jobmanager")
            watch = Watch(tmp_path / "home", service, "flink", "--url", url, "--heartbeat", "2")
            watch.start()
            try:
                yield Scenario(lab, service, watch, submit(lab))
            finally:
                watch.end(signal.SIGTERM)


def test_each_run_ends_as_its_job_did_even_if_the_watcher_or_the_jobmanager_is_killed(
    scenario: Scenario, shared: Path
) -> None:
    still_running: dict[str, Any] = dict.fromkeys(("cancelled", "stopped", "survivor"), "RUNNING")
    scenario.await_states(done="COMPLETED", failing="FAILED", **still_running)

    # A watcher that was killed reports what happened while it was away.
    scenario.watch.end(signal.SIGKILL)
    scenario.cancel("cancelled")
    scenario.watch.start()
    scenario.request("POST", f"/{scenario.jobs['stopped']}/stop", drain=False)
    scenario.await_states(cancelled="ABORTED", stopped="COMPLETED")
    assert scenario.reports_end("cancelled", "ABORT cancelled")
    assert scenario.reports_end("stopped", "COMPLETE stopped with a savepoint"), scenario.watch.transitions("stopped")

    # If a JobManager is killed, its runs are reported as ended.
    (pid,) = next(part.pids for part in scenario.lab.status() if part.name == "jobmanager")
    os.kill(pid, signal.SIGKILL)
    scenario.await_states(survivor="FAILED")
    inferred = scenario.watch.newest("survivor")

    # Once it is back with the job, the run goes on.
    scenario.lab.up(["jobmanager"], lambda _: None)
    scenario.await_states(survivor="RUNNING")
    scenario.cancel("survivor")
    scenario.await_states(
        done="COMPLETED", failing="FAILED", cancelled="ABORTED", stopped="COMPLETED", survivor="ABORTED"
    )
    assert scenario.reports_end("survivor", "ABORT cancelled")

    _check_reasons(scenario, inferred)
    _check_each_end_is_reported_once(scenario)
    _check_runs_are_shared_with_the_listener(scenario)
    specification, events = Specification(shared / "openlineage"), scenario.get("/events/lineage?limit=1000")["events"]
    assert [violation for event in events for violation in specification.complaints_about_ours(event)] == []


def _check_reasons(scenario: Scenario, inferred: dict[str, Any]) -> None:
    failed, stopped = scenario.watch.newest("failing"), scenario.watch.newest("stopped")
    assert failed["errorMessage"]["message"].startswith("java.lang.ArithmeticException")
    assert "StreamExecCalc" in failed["errorMessage"]["stackTrace"]
    assert failed["headwater_flink"]["restarts"] == 1
    assert stopped["headwater_run"]["stopReason"] == "stopped with a savepoint"
    assert "savepoint-" in stopped["headwater_flink"]["savepoint"]
    assert stopped["headwater_flink"]["streamCheckpoints"]["completed"] > 0
    # Flink knows the counts of a chain of operators as last fetched, perhaps before the last of the hundred rows.
    assert scenario.watch.newest("done")["headwater_run"].get("recordsOut", 0) <= 100
    assert "be unreachable from this machine" in inferred["errorMessage"]["message"]
    assert inferred["headwater_run"]["isInferred"] is True
    assert inferred["headwater_run"]["recordsIn"] > 0
    assert "errorMessage" not in scenario.run("survivor")["facets"]


def _check_each_end_is_reported_once(scenario: Scenario) -> None:
    transitions = {job: scenario.watch.transitions(job) for job in scenario.jobs}
    assert transitions == {
        "done": ["START", "COMPLETE"],
        "failing": ["START", "FAIL"],
        "cancelled": ["START", "ABORT cancelled"],
        "stopped": ["START", "COMPLETE stopped with a savepoint"],
        "survivor": ["START", "FAIL cluster unreachable", "ABORT cancelled"],
    }


def _check_runs_are_shared_with_the_listener(scenario: Scenario) -> None:
    events = scenario.get("/events/lineage?limit=1000")["events"]
    for job in ("done", "failing", "cancelled", "stopped"):
        (run,) = scenario.get(f"/namespaces/{NAMESPACE}/jobs/{job}/runs")["runs"]
        assert run["id"] == scenario.run(job)["id"]
        reporters = {_reporter(event) for event in events if event["run"]["runId"] == run["id"]}
        assert reporters == {"headwater", "OpenLineage"}, job


def _reporter(event: Mapping[str, Any]) -> str:
    producer: str = event["producer"]
    return "headwater" if producer.startswith("https://headwater.dev") else producer.split("/")[3]
