"""A real Kafka Connect, watched by the real command, told to a real service."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil
import pytest

from headwater.lab.lab import Lab
from headwater.signing.keyfile import trusted_keys
from headwater.signing.verify import verify_event
from tests.support.ports import free_ports
from tests.support.service import Service, eventually, running
from tests.support.spec import Specification


class Cluster(NamedTuple):
    """A broker, a Connect worker, and how to speak to it."""

    lab: Lab

    @property
    def bootstrap(self) -> str:
        return self.lab.address("broker")

    def put(self, connector: str, **properties: str) -> None:
        names = {name.replace("_", "."): value for name, value in properties.items()}
        self.call("PUT", f"{connector}/config", {"tasks.max": "1", **names})

    def call(self, method: str, path: str, body: object = None) -> None:
        answer = httpx.request(method, f"{self.lab.address('connect')}/connectors/{path}", json=body, timeout=60)
        assert answer.is_success, answer.text

    def kill_worker(self) -> None:
        for pid in next(part for part in self.lab.status() if part.name == "connect").pids:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    ports = dict(zip(("broker", "connect"), free_ports(2), strict=True))
    lab = Lab("kafka", tmp_path_factory.mktemp("lab"), ports)
    try:
        lab.up(["broker", "connect"], lambda _: None)
        yield Cluster(lab)
    finally:
        lab.down(lambda _: None)


class Watch:
    """`headwater watch connect`, started and killed at will."""

    def __init__(self, home: Path, connect: Cluster, service: Service) -> None:
        self.home = home
        self._arguments = [
            *("--bootstrap", connect.bootstrap),
            *("--endpoint", f"{service.url}/api/v1/lineage"),
            *("--file", str(home / "events.jsonl")),
            *("--lost-after", "3"),
        ]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "headwater.cli.main", "watch", "connect", *self._arguments]
        environment = {**os.environ, "HEADWATER_HOME": str(self.home)}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith("watching ")

    def end(self, number: signal.Signals) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(number)
        self._process.wait(60)
        self._process.stdout.close()

    @property
    def rss_mb(self) -> float:
        assert self._process is not None
        rss: int = psutil.Process(self._process.pid).memory_info().rss
        return rss / 1e6

    def events(self, connector: str) -> list[dict[str, Any]]:
        lines = (self.home / "events.jsonl").read_bytes().splitlines() if (self.home / "events.jsonl").exists() else []
        return [event for line in lines if (event := json.loads(line))["job"]["name"] == connector]

    def told(self, connector: str) -> list[str]:
        """The transitions, without the RUNNINGs between them."""
        return [
            f"{event['eventType']} {event['run']['facets']['headwater_run'].get('stopReason', '')}".strip()
            for event in self.events(connector)
            if event["eventType"] != "RUNNING"
        ]

    def state(self, connector: str) -> str:
        """The newest state that was told of the connector itself."""
        state: str = self.events(connector)[-1]["run"]["facets"]["headwater_connect"]["state"]
        return state

    def tells(self, connector: str, *transitions: str) -> bool:
        return eventually(lambda: self.told(connector) == [*transitions]) or pytest.fail(f"{self.told(connector)}")

    def flows(self, connector: str, source: str, target: str) -> bool:
        def newest() -> tuple[list[str], list[str]]:
            event = self.events(connector)[-1]
            return [each["name"] for each in event.get("inputs", [])], [
                each["name"] for each in event.get("outputs", [])
            ]

        return eventually(lambda: bool(self.events(connector)) and newest() == ([source], [target]))


@contextmanager
def watching(home: Path, connect: Cluster, service: Service) -> Iterator[Watch]:
    watch = Watch(home, connect, service)
    watch.start()
    try:
        yield watch
    finally:
        watch.end(signal.SIGTERM)


def test_the_life_of_connectors_from_start_to_end(connect: Cluster, tmp_path: Path, shared: Path) -> None:
    lines, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    lines.write_text("one\ntwo\n")
    with running(tmp_path / "home") as service, watching(tmp_path / "home", connect, service) as watch:
        connect.put("source", connector_class="FileStreamSource", file=str(lines), topic="lines")
        connect.put("sink", connector_class="FileStreamSink", file=str(copy), topics="lines", tasks_max="2")
        assert watch.flows("source", str(lines), "lines")
        assert watch.flows("sink", "lines", str(copy))

        # What ends nothing.
        connect.call("PUT", "sink/pause")
        connect.call("PUT", "sink/resume")
        connect.call("POST", "sink/restart?includeTasks=true")
        connect.put("sink", connector_class="FileStreamSink", file=str(copy), topics="lines", tasks_max="3")
        # What does.
        connect.call("PUT", "sink/stop")
        assert watch.tells("sink", "START", "ABORT stopped")
        connect.call("PUT", "sink/resume")
        assert watch.tells("sink", "START", "ABORT stopped", "START")
        connect.call("DELETE", "sink")
        assert watch.tells("sink", "START", "ABORT stopped", "START", "ABORT deleted")

        # A connector whose tasks fail before the first record, and one that goes on with another topic.
        connect.put("broken", connector_class="FileStreamSink", file="/nowhere/at/all", topics="lines", tasks_max="2")
        assert watch.tells("broken", "START", "FAIL")
        connect.put("source", connector_class="FileStreamSource", file=str(lines), topic="other")
        assert watch.tells("source", "START", "ABORT superseded", "START")
        lines.write_text("one\ntwo\nthree\n")
        assert watch.flows("source", str(lines), "other")

        # The watcher is killed, and something happens meanwhile.
        watch.end(signal.SIGKILL)
        connect.call("PUT", "source/stop")
        watch.start()
        assert watch.tells("source", "START", "ABORT superseded", "START", "ABORT stopped")

        raw = (tmp_path / "home" / "events.jsonl").read_bytes().splitlines()
        ended = {"source": ["ABORTED", "ABORTED"], "sink": ["ABORTED", "ABORTED"], "broken": ["FAILED"]}
        assert eventually(lambda: served_runs(service, *ended) == ended), served_runs(service)
        datasets = {each["name"] for each in served(service, "/search?q=.&limit=100")["results"]}

    specification, keys = Specification(shared / "openlineage"), trusted_keys(tmp_path / "home")
    assert [complaint for event in raw for complaint in specification.complaints(event)] == []
    assert {verify_event(event, keys).verdict for event in raw} == {"ok"}
    assert {str(lines), str(copy)} <= datasets
    failure = next(json.loads(event) for event in raw if json.loads(event)["eventType"] == "FAIL")
    assert "FileStreamSinkTask.java" in failure["run"]["facets"]["errorMessage"]["stackTrace"]


def test_what_a_transform_in_the_chain_sees_of_records_becomes_columns_of_the_same_run(
    connect: Cluster, tmp_path: Path
) -> None:
    lines, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    lines.write_text("one\ntwo\n")
    last = {"transforms.seen.type": "headwater.connect.OpenLineageLifecycleSmt"}
    to_struct = {
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
    }
    with running(tmp_path / "home") as service, watching(tmp_path / "home", connect, service) as watch:
        chain = {"transforms": "hoist,seen", **to_struct, **last}
        source = {"connector_class": "FileStreamSource", "file": str(lines), "topic": "structs"}
        connect.put("structs", **source, **chain)
        connect.put("unstructs", connector_class="FileStreamSink", file=str(copy), topics="structs")

        def columns() -> dict[str, Any] | None:
            facets = watch.events("unstructs")[-1]["outputs"][0]["facets"]
            return facets.get("columnLineage", {}).get("fields")

        assert watch.flows("unstructs", "structs", str(copy))
        assert eventually(lambda: columns() is not None)
        found = columns()
        told = watch.told("structs")
        goes_on = {"structs": ["RUNNING"]}
        assert eventually(lambda: served_runs(service, *goes_on) == goes_on), served_runs(service)

        # It is still known after the watcher was killed.
        watch.end(signal.SIGKILL)
        watch.start()
        connect.call("PUT", "unstructs/pause")
        assert eventually(lambda: watch.state("unstructs") == "PAUSED")
        assert columns() == found

    assert found is not None
    assert {column: each["inputFields"][0]["field"] for column, each in found.items()} == {"line": "line"}
    assert told == ["START"]


def test_a_worker_that_is_killed_is_told_and_its_return_is_another_run(connect: Cluster, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("one\n")
    with running(tmp_path / "home") as service, watching(tmp_path / "home", connect, service) as watch:
        connect.put("survivor", connector_class="FileStreamSource", file=str(lines), topic="survivors")
        assert watch.flows("survivor", str(lines), "survivors")

        connect.kill_worker()
        assert watch.tells("survivor", "START", "FAIL workers lost")
        connect.lab.up(["connect"], lambda _: None)
        assert watch.tells("survivor", "START", "FAIL workers lost", "START")

        lost = next(event for event in watch.events("survivor") if event["eventType"] == "FAIL")
    assert lost["run"]["facets"]["headwater_connect"]["isInferred"] is True


def served(service: Service, path: str) -> dict[str, Any]:
    body: dict[str, Any] = httpx.get(f"{service.url}/api/v1{path}", timeout=60).json()
    return body


def served_runs(service: Service, *connectors: str) -> dict[str, list[str]]:
    """The states of the runs of these connectors, or of all: the cluster remembers those of other tests, too."""
    jobs = served(service, "/namespaces/kafka-connect/jobs?limit=100")["jobs"]
    names = [job["name"] for job in jobs if not connectors or job["name"] in connectors]
    path = "/namespaces/kafka-connect/jobs/{}/runs"
    return {name: [run["state"] for run in served(service, path.format(name))["runs"]] for name in names}
