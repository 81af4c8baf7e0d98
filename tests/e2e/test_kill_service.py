"""Rule 8: acknowledged means durable. The service is killed again and again, under load and under a pipeline."""

import hashlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.store.packing import unpacked
from tests.support.service import Service, running

KILLS = 20


def event(number: int) -> bytes:
    return json.dumps(
        {
            "eventType": "START",
            "eventTime": "2026-05-22T14:23:11Z",
            "producer": "https://example.org/producer",
            "run": {"runId": str(UUID(int=number))},
            "job": {"namespace": "load", "name": f"job-{number % 50}"},
            "inputs": [{"namespace": "lake", "name": f"t{number % 30}"}],
        }
    ).encode()


class Load:
    """Posts events until it is stopped; collects the digests of those that were acknowledged."""

    def __init__(self, url: str, first: int) -> None:
        self.acknowledged: list[bytes] = []
        self._url = url
        self._next = first
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._post_until_stopped)
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _post_until_stopped(self) -> None:
        with httpx.Client(timeout=30) as client:
            while not self._is_over.is_set():
                raw = event(self._next)
                self._next += 1
                while not self._is_over.is_set():
                    try:
                        status = client.post(f"{self._url}/api/v1/lineage", content=raw).status_code
                    except httpx.TransportError:
                        time.sleep(0.05)  # many attempts per second would keep the service from starting
                        continue
                    if status in (200, 201):
                        self.acknowledged.append(hashlib.sha256(raw).digest())
                        break


def stored_digests(home: Path) -> Counter[bytes]:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        return Counter(
            hashlib.sha256(unpacked(frame)).digest() for (frame,) in database.execute("SELECT packed FROM log")
        )


def kill_at_random_times(service: Service, times: int) -> None:
    generator = random.Random()  # noqa: S311  any times will do
    for _ in range(times):
        time.sleep(generator.uniform(0.02, 0.4))
        service.kill()
        service.start()


def test_no_acknowledged_event_is_missing_or_stored_twice_after_twenty_kills(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        loads = [Load(service.url, first=number * 1_000_000) for number in range(4)]

        kill_at_random_times(service, KILLS)

        for load in loads:
            load.stop()
    stored = stored_digests(tmp_path)
    acknowledged = {digest for load in loads for digest in load.acknowledged}
    assert len(acknowledged) > KILLS
    assert acknowledged <= stored.keys()
    assert set(stored.values()) == {1}
    with running(tmp_path) as service:
        summary = httpx.get(f"{service.url}/api/v1/summary").json()
    assert summary["events"]["stored"] == len(stored)


@pytest.mark.spark
def test_a_pipeline_completes_and_all_its_events_arrive_while_the_service_is_killed(tmp_path: Path) -> None:
    pipeline = tmp_path / "made-up.yaml"
    with running(tmp_path / "home") as service:
        pipeline.write_text(_PIPELINE.format(url=service.url, folder=tmp_path))
        command = [sys.executable, "-m", "headwater.cli.main", "run", str(pipeline), "--master", "local[2]", "--json"]
        environment = {**os.environ, "HEADWATER_HOME": str(tmp_path / "home")}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as run:
            while run.poll() is None:
                kill_at_random_times(service, 1)

            output, _ = run.communicate()
        assert run.returncode == 0, output
        result = json.loads(output)
        _deliver_the_rest(pipeline, environment)
    events = [parse_event(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
    stored = stored_digests(tmp_path / "home")
    events_of_run = [logged for logged in events if isinstance(logged, RunEvent) and logged.run_id == result["runId"]]
    assert (events_of_run[0].event_type, events_of_run[-1].event_type) == ("START", "COMPLETE")
    assert {logged.stamp.digest for logged in events} <= stored.keys()


def _deliver_the_rest(pipeline: Path, environment: dict[str, str]) -> None:
    """Run the pipeline once more while the service runs: what the first run left in the spool is sent before it."""
    command = [sys.executable, "-m", "headwater.cli.main", "run", str(pipeline), "--master", "local[2]"]
    subprocess.run(command, check=True, env=environment, capture_output=True)


_PIPELINE = """
name: made-up
namespace: tests
schema_version: 1
owner: tests
input:
  generate: {{rows: 1000, columns: {{id: id, half: "id / 2"}}}}
pipeline:
  processors:
    - filter: half > 10
output:
  file: {{path: "{folder}/out", format: json, mode: overwrite}}
lineage:
  transport: both
  drain_timeout: 2s
  http: {{endpoint: "{url}/api/v1/lineage", timeout: 3s}}
  file: {{path: "{folder}/events.jsonl"}}
"""
