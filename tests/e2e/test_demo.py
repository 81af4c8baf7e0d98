"""`headwater demo --once`: what a new user sees, and that it can be verified."""

import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from pyiceberg.catalog import load_catalog

from headwater.cli.demo.data import PIPELINES
from headwater.model.events import RunEvent, parse_event
from headwater.pipeline.catalogs import lake_properties
from headwater.signing.jwks import read_jwks
from headwater.signing.verify import verify_event
from headwater.store.packing import unpacked
from tests.e2e.conftest import Demo
from tests.support.ports import free_port
from tests.support.service import eventually, running
from tests.support.spec import Specification

pytestmark = pytest.mark.spark


def headwater(demo: Demo, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return headwater_in(demo.home, *arguments)


def headwater_in(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "headwater.cli.main", *arguments]
    return subprocess.run(command, env={**os.environ, "HEADWATER_HOME": str(home)}, capture_output=True, text=True)


@pytest.fixture
def jwks(demo: Demo, tmp_path: Path) -> Path:
    path = tmp_path / "node.jwks"
    path.write_text(headwater(demo, "key", "show", "--jwks").stdout)
    return path


def test_the_demo_prints_its_findings_and_the_command_to_serve_them(demo: Demo) -> None:
    assert "lake.marts.carrier_delays:avg_arr_delay comes from" in demo.output
    assert "a change of lake.raw.flights:arr_delay reaches" in demo.output
    assert f"HEADWATER_HOME={demo.home} headwater serve --port " in demo.output
    assert ", then http://127.0.0.1:" in demo.output


def test_every_event_of_the_demo_is_valid_by_the_specification(demo: Demo, shared: Path) -> None:
    specification = Specification(shared / "openlineage")

    violations = [violation for event in demo.events for violation in specification.complaints(event)]

    assert violations == []


def test_each_pipelines_first_event_is_its_start_and_its_last_is_its_end(demo: Demo) -> None:
    events = [event for event in map(parse_event, demo.events) if isinstance(event, RunEvent)]
    by_job = {name: [event.event_type for event in events if event.job.name == name] for name in PIPELINES}

    assert all(types[0] == "START" and types[-1] == "COMPLETE" for types in by_job.values())
    assert all(set(types[1:-1]) <= {"RUNNING"} for types in by_job.values())


def test_verify_accepts_every_event_of_the_demo(demo: Demo, jwks: Path) -> None:
    result = headwater(demo, "verify", str(demo.home / "demo" / "events.jsonl"), "--keys", str(jwks), "--json")

    verdicts = [json.loads(line)["verdict"] for line in result.stdout.splitlines()]
    assert result.returncode == 0
    assert verdicts == ["ok"] * len(demo.events)


def test_one_changed_byte_anywhere_in_an_event_is_found(demo: Demo, jwks: Path) -> None:
    trusted = read_jwks(jwks.read_text())
    generator = random.Random(20130101)  # noqa: S311
    event = max(demo.events, key=len)
    assert verify_event(event, trusted).verdict == "ok"

    for position in generator.sample(range(len(event)), 3000):
        other = generator.choice([byte for byte in range(256) if byte != event[position]])
        changed = event[:position] + bytes([other]) + event[position + 1 :]
        assert verify_event(changed, trusted).verdict != "ok", f"byte {position} → {other}"


def test_the_service_stored_each_event_byte_for_byte_and_verified(demo: Demo) -> None:
    with closing(sqlite3.connect(demo.home / "headwater.db")) as database:
        rows = database.execute("SELECT packed, verdict FROM log").fetchall()
    stored = {unpacked(frame): verdict for frame, verdict in rows}

    assert stored == dict.fromkeys(demo.events, "ok")


def test_counters_agree_with_the_real_data(demo: Demo) -> None:
    events = [event for event in map(parse_event, demo.events) if isinstance(event, RunEvent)]
    counters = {event.job.name: event.run_facets["headwater_run"] for event in events if event.event_type == "COMPLETE"}

    # The package's own numbers: 336,776 flights, 16 airlines, 1,458 airports, 3,322 planes, 26,115 hours of weather.
    assert counters["ingest-flights"]["recordsIn"] == 336_776 + 16 + 1_458 + 3_322 + 26_115
    assert counters["ingest-flights"]["recordsOut"] == 336_776 + 16 + 1_458 + 3_322 + 26_115
    assert counters["enrich-flights"]["recordsOut"] == 336_776
    assert counters["carrier-delays"]["recordsOut"] == 16 + 16


def test_trace_and_impact_find_the_same_columns_from_both_ends(demo: Demo) -> None:
    with running(demo.home) as service:
        trace = headwater(demo, "trace", "lake.marts.carrier_delays:avg_arr_delay", "--json", "--url", service.url)
        impact = headwater(demo, "impact", "lake.raw.flights:arr_delay", "--json", "--url", service.url)
        tree = headwater(demo, "trace", "carrier_delays:avg_arr_delay", "--url", service.url)

    names_upstream = {node["name"] for node in json.loads(trace.stdout)["nodes"]}
    names_downstream = {node["name"] for node in json.loads(impact.stdout)["nodes"]}
    assert "lake.raw.flights:arr_delay" in names_upstream
    assert "lake.marts.carrier_delays:avg_arr_delay" in names_downstream
    assert "lake.raw.flights:arr_delay  identity" in tree.stdout


def test_a_bundle_proves_what_the_mart_is_made_from(demo: Demo, tmp_path: Path) -> None:
    """By the commands that the demo prints, on a copy of its log, since an export is an entry of the log."""
    home, bundle = tmp_path / "home", str(tmp_path / "mart.zip")
    shutil.copytree(demo.home, home, ignore=shutil.ignore_patterns("lake", "demo", "spool"))
    printed = (line.removeprefix("its audit") for line in demo.output.splitlines() if "mart.zip" in line)
    export, verify = ([bundle if word == "mart.zip" else word for word in shlex.split(line)[1:]] for line in printed)

    exported = headwater_in(home, *export)
    verified = headwater_in(home, *verify, "--json")

    answer = json.loads(verified.stdout)
    assert (exported.returncode, verified.returncode, answer["verdict"]) == (0, 0, "proven"), exported.stderr
    jobs, events = answer["madeFrom"]["jobs"], len(demo.events)
    assert {job.rpartition(":")[2] for job in jobs} == {*PIPELINES}
    assert sum(each["entries"] for each in jobs.values()) == events
    assert sum(sum(each["signedBy"].values()) for each in jobs.values()) == events
    origins = {edge["origin"].rpartition("/")[2] for edge in answer["madeFrom"]["columnEdges"]}
    assert "flights.csv:arr_delay" in origins


def test_the_lake_is_read_by_pyiceberg_without_spark(demo: Demo) -> None:
    catalog = load_catalog("lake", **lake_properties(demo.home))

    assert len(catalog.load_table("marts.carrier_delays").scan().to_arrow()) == 16


def test_the_summary_counts_events_jobs_and_runs(demo: Demo) -> None:
    with running(demo.home) as service:
        summary = httpx.get(f"{service.url}/api/v1/summary").json()
        metrics = httpx.get(f"{service.url}/metrics").text

    assert summary["events"]["stored"] == summary["events"]["verified"] == len(demo.events)
    assert summary["jobs"] == 3
    assert summary["runs"] == 3
    assert "headwater_nodes 1.0" in metrics


def test_ctrl_c_ends_the_demo_and_all_its_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headwater.cli.main", "demo", "--port", str(free_port())]
    environment = {**os.environ, "HEADWATER_HOME": str(tmp_path)}
    running_demo = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert running_demo.stderr is not None
    while "writing output" not in running_demo.stderr.readline():
        assert running_demo.poll() is None
    children = descendants(running_demo.pid)  # the service, and Spark's JVM

    running_demo.send_signal(signal.SIGINT)

    assert running_demo.wait(240) == 128 + signal.SIGINT
    running_demo.stderr.close()
    assert len(children) >= 2
    assert eventually(lambda: not any(is_alive(pid) for pid in children))


def descendants(pid: int) -> list[int]:
    """The child processes of a process, and theirs."""
    started = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return started + [grandchild for child in started for grandchild in descendants(child)]


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
