"""A real schema registry, watched."""

import json
import os
import subprocess
import sys
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from headwater.capture.outlet import Outlet
from headwater.capture.registry import RegistryWatcher, ReportedVersion
from headwater.capture.schemas import Registry
from headwater.lab.lab import Lab
from tests.support.service import Service, running
from tests.support.spec import Specification

BOOTSTRAP = "broker:9092"

SUM_JOB = """
import headwater, sys
with headwater.run(job="sum", inputs=[sys.argv[1]], outputs=[("bi", "revenue")]):
    pass
"""


def avro(*fields: tuple[str, object]) -> Schema:
    named = [{"name": name, "type": kind} for name, kind in fields]
    return Schema(json.dumps({"type": "record", "name": "Order", "fields": named}), "AVRO")


ID_AND_PRICE = avro(("id", "long"), ("price", "int"))
PRICE_PROMOTED = avro(("id", "long"), ("price", "double"))
ONLY_ID = avro(("id", "long"))


def command(home: Path, endpoint: str, *arguments: str) -> str:
    """The output of a command that sends its events to the endpoint."""
    environment = {**os.environ, "HEADWATER_HOME": str(home), "HEADWATER_ENDPOINT": endpoint}
    arguments_of_python = [sys.executable, "-m", "headwater.cli.main", *arguments]
    return subprocess.run(arguments_of_python, env=environment, capture_output=True, text=True, check=True).stdout


class Watched:
    """A registry with one topic's subject, and a watcher of it."""

    def __init__(self, kafka: Lab, state: Path) -> None:
        self.topic = f"watched-{uuid.uuid4().hex}"
        self.subject = f"{self.topic}-value"
        self.url = kafka.address("registry")
        self.events: list[bytes] = []
        self._state = state

    def register(self, schema: Schema) -> None:
        with SchemaRegistryClient({"url": self.url}) as client:
            client.register_schema(self.subject, schema)

    def look(self) -> list[ReportedVersion]:
        """The versions of the subject that a watcher started now reports."""
        outlet = Outlet(self.events.append, lambda: True)
        with closing(Registry(self.url)) as registry:
            watcher = RegistryWatcher(registry, BOOTSTRAP, self._state, outlet)
            return [version for version in watcher.poll() if version.subject == self.subject]

    def watch_by_command(self, service: Service, home: Path) -> str:
        """The output of `headwater watch registry --once`, which reports to the service."""
        endpoint = f"{service.url}/api/v1/lineage"
        return command(home, endpoint, "watch", "registry", "--once", "--url", self.url, "--bootstrap", BOOTSTRAP)

    def run_sum(self, service: Service, home: Path) -> None:
        """Run a user's own job, which reads the topic and writes the dashboard's figure."""
        topic, endpoint = f"kafka://{BOOTSTRAP}/{self.topic}", f"{service.url}/api/v1/lineage"
        environment = {**os.environ, "HEADWATER_HOME": str(home), "HEADWATER_ENDPOINT": endpoint}
        subprocess.run([sys.executable, "-c", SUM_JOB, topic], env=environment, check=True)

    def facets(self) -> list[dict[str, Any]]:
        bodies = [json.loads(event)["dataset"] for event in self.events]
        return [body["facets"] for body in bodies if body["name"] == self.topic]


def test_each_version_is_reported_once_even_across_watchers(kafka: Lab, tmp_path: Path, shared: Path) -> None:
    watched = Watched(kafka, tmp_path / "state.json")
    watched.register(ID_AND_PRICE)
    first = watched.look()
    again = watched.look()
    watched.register(PRICE_PROMOTED)
    then = watched.look()

    assert first == [ReportedVersion(watched.subject, 1, is_breaking=False)]
    assert again == []
    assert then == [ReportedVersion(watched.subject, 2, is_breaking=False)]
    assert [facets["version"]["datasetVersion"] for facets in watched.facets()] == ["1", "2"]
    assert [(field["name"], field["type"]) for field in watched.facets()[1]["schema"]["fields"]] == [
        ("id", "long"),
        ("price", "double"),
    ]
    specification = Specification(shared / "openlineage")
    assert [violation for event in watched.events for violation in specification.complaints(event)] == []


def test_a_change_that_the_compatibility_rule_allows_may_still_break_readers_of_the_field(
    kafka: Lab, tmp_path: Path
) -> None:
    watched = Watched(kafka, tmp_path / "state.json")
    watched.register(ID_AND_PRICE)
    watched.register(ONLY_ID)

    versions = watched.look()

    assert [version.is_breaking for version in versions] == [False, True]
    subject = watched.facets()[1]["headwater_subject"]
    assert subject["changes"] == [{"field": "price", "change": "removed", "from": "int", "isBreaking": True}]
    assert (subject["compatibility"], subject["fitsRule"], subject["version"]) == ("BACKWARD", True, 2)


def test_the_service_shows_the_topic_with_its_newest_schema(kafka: Lab, tmp_path: Path) -> None:
    watched = Watched(kafka, tmp_path / "state.json")
    watched.register(ID_AND_PRICE)
    with running(tmp_path / "home") as service:
        output = watched.watch_by_command(service, tmp_path / "home")
        dataset = httpx.get(
            f"{service.url}/api/v1/namespaces/kafka%3A%2F%2F{BOOTSTRAP}/datasets/{watched.topic}"
        ).json()

    assert f"{watched.subject} version 1\n" in output
    assert [(field["name"], field["type"]) for field in dataset["fields"]] == [("id", "long"), ("price", "int")]


def test_a_wrong_number_is_traced_to_the_version_of_the_topics_schema(kafka: Lab, tmp_path: Path) -> None:
    watched, home = Watched(kafka, tmp_path / "state.json"), tmp_path / "home"
    with running(home) as service:
        watched.register(ID_AND_PRICE)
        watched.watch_by_command(service, home)
        watched.run_sum(service, home)
        watched.register(PRICE_PROMOTED)
        watched.watch_by_command(service, home)
        watched.run_sum(service, home)

        output = command(home, service.url, "root-cause", "revenue", "--url", service.url)

    cause = f"{watched.topic}: changed price from int to double, by version 2 of {watched.subject}"
    assert f"{cause} (of 1 found in 1 run of 1 job, up to 0 steps upstream)" in " ".join(output.split())
