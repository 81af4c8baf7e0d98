"""A service that asks nobody who calls: what a browser sends for a page of somebody else's does not come in."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from headwater.store.sqlite import SqliteStore
from tests.support.app import event, serving
from tests.support.service import running

READ, POST = "/api/v1/namespaces", "/api/v1/lineage"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with (
        closing(SqliteStore(tmp_path / "headwater.db")) as store,
        serving(store, hosts=frozenset({"127.0.0.1", "lineage.example.org"})) as client,
    ):
        yield client


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:5000", "localhost.evil.example", "127.0.0.1.evil.example"]
)
def test_a_name_that_was_pointed_at_this_machine_reads_and_writes_nothing(client: TestClient, host: str) -> None:
    name = host.partition(":")[0]

    for answer in (client.get(READ, headers={"host": host}), client.delete("/api/v1/jobs", headers={"host": host})):
        assert answer.status_code == 403
        assert answer.json()["message"].startswith(f"Host: {name!r} is not a known name of this machine; ")
        assert "--allow-host" in answer.json()["message"]


@pytest.mark.parametrize(
    "host",
    [
        *("localhost:5000", "127.0.0.1:5000", "[::1]:5000", "192.168.1.4", "headwater", "x"),
        *("host.docker.internal:5000", "Lineage.Example.ORG", "lineage.example.org.:443", ""),
    ],
)
def test_names_that_nobody_elsewhere_can_have_are_asked_for(client: TestClient, host: str) -> None:
    assert client.get(READ, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://192.168.1.4"},
        {"origin": "https://[::1"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_page_from_elsewhere_writes_nothing(client: TestClient, headers: Mapping[str, str]) -> None:
    told = {"host": "localhost:5000", "content-type": "text/plain", **headers}

    answer = client.post(POST, content=json.dumps(event()), headers=told)

    assert answer.status_code == 403
    assert answer.json()["retriable"] is True
    assert client.get("/api/v1/events/lineage", headers={"host": "localhost"}).json()["totalCount"] == 0


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost:5000", "sec-fetch-site": "same-origin"},
        {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"},
        {"origin": "http://[::1]:5173"},
        {"origin": "https://lineage.example.org"},
    ],
)
def test_programs_and_pages_of_this_machine_write(client: TestClient, headers: Mapping[str, str]) -> None:
    answer = client.post(POST, content=json.dumps(event()), headers={"host": "localhost:5000", **headers})

    assert answer.status_code == 201


def test_a_link_from_elsewhere_opens_the_page_and_reads(client: TestClient) -> None:
    followed = {"host": "localhost:5000", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert client.get(READ, headers=followed).status_code == 200


def test_serve_refuses_other_names_unless_they_are_allowed(tmp_path: Path) -> None:
    with running(tmp_path, "--allow-host", "lineage.example.org") as service:
        asked = {
            host: httpx.get(f"{service.url}{READ}", headers={"host": host}).status_code
            for host in ("evil.example", "lineage.example.org", f"127.0.0.1:{service.port}")
        }

    assert asked == {"evil.example": 403, "lineage.example.org": 200, f"127.0.0.1:{service.port}": 200}
