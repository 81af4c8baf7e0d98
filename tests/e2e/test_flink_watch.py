"""Every way a Flink job can end, watched on a real cluster that OpenLineage's own listener tells of, too.

One story on one cluster, since a start takes a quarter of a minute. The cluster is highly available, so that a
JobManager that was killed can come back with its jobs.
"""

import json
import os
import signal
import subprocess
import time
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
class Story:
    """The cluster, its watcher and its service."""

    lab: Lab
    service: Service
    watch: Watch
    jobs: Mapping[str, str]
    """Ids by name."""

    def ask(self, method: str, path: str, **body: object) -> None:
        httpx.request(method, f"{self.lab.address('jobmanager')}/jobs{path}", json=body, timeout=30).raise_for_status()

    def cancel(self, job: str) -> None:
        self.ask("PATCH", f"/{self.jobs[job]}?mode=cancel")

    def get(self, path: str) -> dict[str, Any]:
        """What the service says; nothing where there is no such thing."""
        answer = httpx.get(f"{self.service.url}/api/v1{path}", timeout=30)
        said: dict[str, Any] = answer.json() if answer.is_success else {}
        return said

    def run(self, job: str) -> dict[str, Any]:
        """The one run that the watcher has told of the job, as the service shows it."""
        ids = {event["run"]["runId"] for event in self.watch.events(job)}
        return self.get(f"/jobs/runs/{ids.pop()}") if len(ids) == 1 else {}

    def becomes(self, within_s: float = 60, **states: str) -> None:
        """Each job comes to have one run from the watcher, in this state."""
        shown = {}

        def is_so() -> bool:
            shown.update({job: self.run(job).get("state") for job in states})
            return shown == states

        assert eventually(is_so, within_s), shown

    def has_told(self, job: str, end: str) -> bool:
        """Whether the watcher comes to tell that end: the listener may have told it before."""
        return eventually(lambda: self.watch.transitions(job)[-1:] == [end], 30)


@contextmanager
def zookeeper(folder: Path) -> Iterator[str]:
    """The one that Flink ships; gives its address."""
    (port,) = free_ports(1)
    (folder / "data").mkdir(parents=True)
    places = f"dataDir={folder / 'data'}\nclientPort={port}\nclientPortAddress=127.0.0.1"
    (folder / "zoo.cfg").write_text(f"tickTime=500\nadmin.enableServer=false\n{places}\n")
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


def submitted(lab: Lab) -> dict[str, str]:
    command = [str(PYTHON), str(SUBMIT), lab.address("jobmanager")]
    done = subprocess.run(command, input=json.dumps(WORK), capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    ids: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return ids


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    with running(tmp_path / "service") as service, zookeeper(tmp_path / "zookeeper") as quorum:
        more = tmp_path / "flink.yaml"
        more.write_text(yaml.safe_dump(settings(quorum, tmp_path, service)))
        monkeypatch.setenv(MORE_SETTINGS, str(more))
        with running_flink(tmp_path / "lab") as lab:
            url = lab.address("jobmanager")
            watch = Watch(tmp_path / "home", service, "flink", "--url", url, "--heartbeat", "2")
            watch.start()
            try:
                yield Story(lab, service, watch, submitted(lab))
            finally:
                watch.end(signal.SIGTERM)


def test_each_run_ends_as_its_job_did_whoever_dies_meanwhile(story: Story, shared: Path) -> None:
    going_on = dict.fromkeys(("cancelled", "stopped", "survivor"), "RUNNING")
    story.becomes(done="COMPLETED", failing="FAILED", **going_on)

    # A watcher that is killed tells what happened while it was away.
    story.watch.end(signal.SIGKILL)
    story.cancel("cancelled")
    story.watch.start()
    story.ask("POST", f"/{story.jobs['stopped']}/stop", drain=False)
    story.becomes(cancelled="ABORTED", stopped="COMPLETED")
    assert story.has_told("cancelled", "ABORT cancelled")
    assert story.has_told("stopped", "COMPLETE stopped with a savepoint"), story.watch.transitions("stopped")

    # A JobManager that is killed ends its runs, as far as can be told.
    (pid,) = next(part.pids for part in story.lab.status() if part.name == "jobmanager")
    os.kill(pid, signal.SIGKILL)
    killed_at = time.monotonic()
    story.becomes(within_s=10, survivor="FAILED")
    assert time.monotonic() - killed_at < 10
    inferred = story.watch.newest("survivor")

    # One that comes back with the job goes on with the run.
    story.lab.up(["jobmanager"], lambda _: None)
    story.becomes(survivor="RUNNING")
    story.cancel("survivor")
    story.becomes(done="COMPLETED", failing="FAILED", cancelled="ABORTED", stopped="COMPLETED", survivor="ABORTED")
    assert story.has_told("survivor", "ABORT cancelled")

    _says_why(story, inferred)
    _tells_each_end_once(story)
    _shares_runs_with_the_listener(story)
    specification, told = Specification(shared / "openlineage"), story.get("/events/lineage?limit=1000")["events"]
    assert [complaint for event in told for complaint in specification.complaints_about_ours(event)] == []


def _says_why(story: Story, inferred: dict[str, Any]) -> None:
    failed, stopped = story.watch.newest("failing"), story.watch.newest("stopped")
    assert failed["errorMessage"]["message"].startswith("java.lang.ArithmeticException")
    assert "StreamExecCalc" in failed["errorMessage"]["stackTrace"]
    assert failed["headwater_flink"]["restarts"] == 1
    assert stopped["headwater_run"]["stopReason"] == "stopped with a savepoint"
    assert "savepoint-" in stopped["headwater_flink"]["savepoint"]
    assert stopped["headwater_flink"]["streamCheckpoints"]["completed"] > 0
    # Of a chain of operators Flink knows what it fetched last, which may have been before the last of the hundred.
    assert story.watch.newest("done")["headwater_run"].get("recordsOut", 0) <= 100
    assert "be unreachable from this machine" in inferred["errorMessage"]["message"]
    assert inferred["headwater_run"]["isInferred"] is True
    assert inferred["headwater_run"]["recordsIn"] > 0
    assert "errorMessage" not in story.run("survivor")["facets"]


def _tells_each_end_once(story: Story) -> None:
    ends = {job: story.watch.transitions(job) for job in story.jobs}
    assert ends == {
        "done": ["START", "COMPLETE"],
        "failing": ["START", "FAIL"],
        "cancelled": ["START", "ABORT cancelled"],
        "stopped": ["START", "COMPLETE stopped with a savepoint"],
        "survivor": ["START", "FAIL cluster unreachable", "ABORT cancelled"],
    }


def _shares_runs_with_the_listener(story: Story) -> None:
    events = story.get("/events/lineage?limit=1000")["events"]
    for job in ("done", "failing", "cancelled", "stopped"):
        (run,) = story.get(f"/namespaces/{NAMESPACE}/jobs/{job}/runs")["runs"]
        assert run["id"] == story.run(job)["id"]
        tellers = {_teller(event) for event in events if event["run"]["runId"] == run["id"]}
        assert tellers == {"headwater", "OpenLineage"}, job


def _teller(event: Mapping[str, Any]) -> str:
    producer: str = event["producer"]
    return "headwater" if producer.startswith("https://headwater.dev") else producer.split("/")[3]
