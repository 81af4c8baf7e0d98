"""`headwater ship` against a real service: events written at an edge without a network arrive in order and complete."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from headwater.emit.config import EmitConfig, FileConfig
from headwater.emit.emitter import Emitter
from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create
from tests.component.emit.emit_receiver import Receiver
from tests.support.program import COMMAND
from tests.support.service import running


def event(number: int) -> bytes:
    return json.dumps(
        {
            "eventType": "COMPLETE",
            "eventTime": datetime(2026, 5, 22, 14, 0, number % 60, tzinfo=UTC).isoformat(),
            "producer": "https://example.org/producer",
            "run": {"runId": f"01a1fd5c-bf4f-7259-9205-{number:012x}"},
            "job": {"namespace": "edge", "name": "orders"},
        }
    ).encode()


def ship(folder: Path, home: Path, *arguments: str) -> tuple[int, Any]:
    result = subprocess.run(
        [*COMMAND, "ship", str(folder), "--json", *arguments],
        env={**os.environ, "HEADWATER_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode in (0, 1), result.stderr
    return result.returncode, json.loads(result.stdout)


def test_events_that_an_edge_wrote_to_files_arrive_once_and_an_unsigned_line_does_not(tmp_path: Path) -> None:
    edge, centre, lineage = tmp_path / "edge", tmp_path / "centre", tmp_path / "lineage"
    key = load_or_create(edge)
    (centre / "keys").mkdir(parents=True)
    (centre / "keys" / "edge.jwks").write_text(write_jwks({key.key_id: key.public_key}))
    to_file = FileConfig(path=lineage / "events.jsonl", rotation_size_mb=0.05)
    with Emitter.of_node(EmitConfig(file=to_file, spool=edge / "spool"), key) as emitter:
        for number in range(200):
            emitter.put(event(number))
    assert len(list(lineage.glob("*.jsonl"))) > 2
    with (lineage / "events.jsonl").open("ab") as file:
        file.write(event(999) + b"\n")

    with running(centre, "--require-signed") as service:
        first_status, first = ship(lineage, edge, "--url", service.url)
        second_status, second = ship(lineage, edge, "--url", service.url)
        _, again = ship(lineage, edge, "--url", service.url, "--from-start")
        events = httpx.get(f"{service.url}/api/v1/events/lineage", params={"limit": 500}).json()
        (node,) = httpx.get(f"{service.url}/api/v1/nodes").json()["nodes"]

    assert (first_status, first["arrived"], first["heldBack"], first["left"]) == (1, 200, 1, 0)
    assert [(trouble["verdict"], trouble["file"]) for trouble in first["troubles"]] == [("unsigned", "events.jsonl")]
    assert (second_status, second["arrived"], second["heldBack"], second["heldBackBefore"]) == (1, 0, 0, 1)
    assert again["arrived"] == 200
    assert events["totalCount"] == 200
    assert not any(node["troubles"].values())


def test_each_line_of_the_file_transport_is_a_complete_event_for_any_log_shipper(tmp_path: Path) -> None:
    key = load_or_create(tmp_path)
    to_file = FileConfig(path=tmp_path / "events.jsonl", rotation_size_mb=0.02)
    with Emitter.of_node(EmitConfig(file=to_file, spool=tmp_path / "spool"), key) as emitter:
        for number in range(50):
            emitter.put(event(number))

    lines = [line for file in sorted(tmp_path.glob("events*.jsonl")) for line in file.read_bytes().splitlines()]

    events = [json.loads(line) for line in lines]
    assert [each["run"]["runId"] for each in events] == [
        json.loads(event(number))["run"]["runId"] for number in range(50)
    ]
    assert all({"signature", "headwater_chain"} <= each["run"]["facets"].keys() for each in events)


@pytest.mark.parametrize("path", ["/lineage", "/lineage/", "/lineage/api/v1/lineage", "", "/api/v1/lineage"])
def test_events_are_shipped_to_a_service_below_a_path(path: str, tmp_path: Path, receiver: Receiver) -> None:
    shipped = shipped_to(tmp_path, f"{address_of(receiver)}{path}")

    [post] = receiver.posts
    assert shipped == (0, 1)
    assert post.path == f"{path.removesuffix('/').removesuffix('/api/v1/lineage')}/api/v1/lineage"


@pytest.mark.parametrize(("option", "key"), [((), "asking"), (("--token-env", "MINE"), "mine")])
def test_events_are_shipped_with_the_token_of_the_other_commands(
    option: tuple[str, ...], key: str, tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_TOKEN", "asking")
    monkeypatch.setenv("MINE", "mine")

    shipped = shipped_to(tmp_path, address_of(receiver), *option)

    [post] = receiver.posts
    assert shipped == (0, 1)
    assert post.headers["Authorization"] == f"Bearer {key}"


def address_of(receiver: Receiver) -> str:
    return receiver.url.removesuffix("/api/v1/lineage")


def shipped_to(folder: Path, url: str, *arguments: str) -> tuple[int, int]:
    """Ship one event; returns the exit status, and how many arrived."""
    key = load_or_create(folder / "home")
    config = EmitConfig(file=FileConfig(path=folder / "events" / "events.jsonl"), spool=folder / "spool")
    with Emitter.of_node(config, key) as emitter:
        emitter.put(event(1))
    status, answer = ship(folder / "events", folder / "home", "--url", url, *arguments)
    return status, answer["arrived"]
