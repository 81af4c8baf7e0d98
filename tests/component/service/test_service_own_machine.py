"""A service without access control: what a browser sends for a foreign page is refused."""

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
    "host", ["evil.example", "evil.example:5000", "localhost.evil.example", "127.0.0.1.evil.example", ":5000"]
)
def test_requests_to_a_foreign_host_name_are_refused(client: TestClient, host: str) -> None:
    name = host.partition(":")[0]

    for response in (client.get(READ, headers={"host": host}), client.delete("/api/v1/jobs", headers={"host": host})):
        assert response.status_code == 403
        assert response.json()["message"].startswith(f"Host: {name!r} is not a known name of this machine; ")
        assert "--allow-host" in response.json()["message"]


@pytest.mark.parametrize(
    "host",
    [
        *("localhost:5000", "127.0.0.1:5000", "[::1]:5000", "192.168.1.4", "headwater", "x"),
        *("host.docker.internal:5000", "Lineage.Example.ORG", "lineage.example.org.:443", ""),
    ],
)
def test_requests_to_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get(READ, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://192.168.1.4"},
        {"origin": "http://notlocalhost"},
        {"origin": "https://[::1"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_foreign_page_cannot_write(client: TestClient, headers: Mapping[str, str]) -> None:
    all_headers = {"host": "localhost:5000", "content-type": "text/plain", **headers}

    response = client.post(POST, content=json.dumps(event()), headers=all_headers)

    assert response.status_code == 403
    assert response.json()["retriable"] is True
    assert client.get("/api/v1/events/lineage", headers={"host": "localhost"}).json()["totalCount"] == 0


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost:5000", "sec-fetch-site": "same-origin"},
        {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"},
        {"origin": "http://localhost:3000", "sec-fetch-site": "cross-site"},
        {"origin": "http://page.localhost:3000"},
        {"origin": "http://[::1]:5173"},
        {"origin": "https://lineage.example.org"},
        {"host": "192.168.1.4:5000", "origin": "http://192.168.1.4:5000", "sec-fetch-site": "same-origin"},
    ],
)
def test_programs_and_pages_of_this_machine_can_write(client: TestClient, headers: Mapping[str, str]) -> None:
    response = client.post(POST, content=json.dumps(event()), headers={"host": "localhost:5000", **headers})

    assert response.status_code == 201


def test_a_foreign_link_can_read(client: TestClient) -> None:
    link_headers = {"host": "localhost:5000", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert client.get(READ, headers=link_headers).status_code == 200


def test_serve_refuses_other_names_unless_they_are_allowed(tmp_path: Path) -> None:
    with running(tmp_path, "--allow-host", "lineage.example.org") as service:
        statuses = {
            host: httpx.get(f"{service.url}{READ}", headers={"host": host}).status_code
            for host in ("evil.example", "lineage.example.org", f"127.0.0.1:{service.port}")
        }

    assert statuses == {"evil.example": 403, "lineage.example.org": 200, f"127.0.0.1:{service.port}": 200}
