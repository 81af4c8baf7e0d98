"""OpenLineage's own listener in a real Spark, with the transport that signs; the service accepts signed events only."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from headwater.lab.flink import TRANSPORT
from headwater.signing.keyfile import load_or_create
from tests.support.service import Service, eventually, running

pytestmark = pytest.mark.spark

LISTENER = TRANSPORT.with_name("openlineage-spark")

PROGRAM = """
import sys
from pyspark.sql import SparkSession

folder, jars, url = sys.argv[1:]
settings = {
    "spark.ui.enabled": "false", "spark.driver.memory": "600m", "spark.log.level": "OFF",
    "spark.driver.extraClassPath": jars, "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
    "spark.openlineage.namespace": "theirs",
    "spark.openlineage.transport.type": "headwater",
    "spark.openlineage.transport.url": url,
    "spark.openlineage.transport.drainTimeoutMs": "20000",
}
spark = SparkSession.builder.master("local[2]").appName("nightly").config(map=settings).getOrCreate()
for name in ("before", "while_away"):
    spark.range(5).write.parquet(f"{folder}/{name}")
    print(name, flush=True)
    input()
"""


@pytest.fixture
def jars() -> str:
    """The class path of the listener and the signing transport."""
    files = [jar for folder in (TRANSPORT, LISTENER) for jar in folder.glob("*.jar")]
    assert len(files) == 2, "a jar is missing: make build/signing-transport.stamp build/openlineage-spark.stamp"
    return os.pathsep.join(map(str, files))


@contextmanager
def started(folder: Path, jars: str, service: Service) -> Iterator["subprocess.Popen[str]"]:
    """The program, which waits for a line after each of its two writes."""
    (folder / "nightly.py").write_text(PROGRAM)
    command = [sys.executable, str(folder / "nightly.py"), str(folder), jars, f"{service.url}/api/v1/lineage"]
    environment = {**os.environ, "HEADWATER_HOME": str(service.home)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_line(process: "subprocess.Popen[str]", word: str) -> None:
    """Wait until the program prints that it has written."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line == f"{word}\n":
            return
    raise AssertionError("".join(lines))


def let_continue(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def event_types(service: Service, folder: Path) -> dict[str, set[str]]:
    """The event types that the service has, by the file that a run wrote, else by its job."""
    response = httpx.get(f"{service.url}/api/v1/events/lineage?limit=1000", timeout=30)
    types: dict[str, set[str]] = {}
    for event in response.json()["events"]:
        outputs = [str(Path(output["name"]).relative_to(folder)) for output in event.get("outputs", [])]
        for name in outputs or [event["job"]["name"]]:
            types.setdefault(name, set()).add(event["eventType"])
    return types


def node(service: Service) -> dict[str, Any]:
    """The only node whose record the service keeps."""
    (only_node,) = httpx.get(f"{service.url}/api/v1/nodes", timeout=30).json()["nodes"]
    return dict(only_node)


def test_sparks_own_listener_is_signed_chained_and_spooled_while_the_service_is_away(tmp_path: Path, jars: str) -> None:
    key = load_or_create(tmp_path / "home")
    with running(tmp_path / "home", "--require-signed") as service, started(tmp_path, jars, service) as program:
        wait_for_line(program, "before")
        assert eventually(lambda: "COMPLETE" in event_types(service, tmp_path).get("before", set()), 30)
        service.stop()
        let_continue(program)
        wait_for_line(program, "while_away")
        spool = tmp_path / "home" / "openlineage"
        assert eventually(lambda: any(_is_an_end(file) for file in spool.rglob("*.json")), 30)
        service.start()
        let_continue(program)
        out, _ = program.communicate(timeout=60)

        assert program.returncode == 0, out
        types = event_types(service, tmp_path)
        assert all("COMPLETE" in types[name] for name in ("before", "while_away", "nightly")), types
        stored = httpx.get(f"{service.url}/api/v1/events/lineage?limit=1000", timeout=30).json()["totalCount"]
        record = node(service)
        assert (record["nodeId"], record["epochs"], record["unproved"]) == (key.node_id, 1, 0)
        assert (record["events"], record["lastSequence"]) == (stored, stored - 1)
        assert not any(record["troubles"].values())
    assert list(spool.rglob("*.json")) == []


def _is_an_end(file: Path) -> bool:
    """Whether a spooled file holds the event that ends the write."""
    event = json.loads(file.read_bytes())
    return event["eventType"] == "COMPLETE" and bool(event.get("outputs"))
