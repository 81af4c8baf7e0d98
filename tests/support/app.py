"""The service as an app in this process, over a real store, without a socket."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from fastapi import FastAPI
from starlette.testclient import TestClient

from headwater.service.app import create_app
from headwater.service.config import ServiceConfig
from headwater.signing.note import NoteSigner
from headwater.store.sqlite import SqliteStore
from headwater.store.store import Store

RUN = "0198f7d0-1111-7222-8333-444455556666"
PRODUCER = "https://example.org/producer"
Body = dict[str, Any]
"""A JSON object."""
Response = Any
"""A response of the test client, of whichever HTTP library."""

LOG_KEY = NoteSigner.from_seed("lineage.example.org", bytes(32))
CONFIG = ServiceConfig(body_limit=1_000_000, page=None, kept_mb=100)
START_US = 1_779_459_791_000_000
"""The initial time of the app's clock, which advances by a millisecond at each reading."""


@contextmanager
def serving(
    store: Store,
    trusted: Mapping[str, Ed25519PublicKey] | None = None,
    *,
    start_us: int = START_US,
    now_us: Callable[[], int] | None = None,
    **settings: Any,  # noqa: ANN401  of the type of each member
) -> Iterator[TestClient]:
    """A client of the app over a store; failures are responses. `settings` overrides members of `ServiceConfig`."""
    ticks = count(start_us, 1_000)
    config = replace(CONFIG, **settings)
    app = create_app(store, trusted or {}, config, log_key=LOG_KEY, now_us=now_us or (lambda: next(ticks)))
    with _Client(app) as client:
        yield client


@contextmanager
def served(folder: Path, *, kept_mb: float = 100, start_us: int = START_US) -> Iterator[TestClient]:
    """A client of an app over the store in a folder, a new one if there is none."""
    file = folder / "headwater.db"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_new_store())
    with (
        closing(SqliteStore(file)) as store,
        serving(store, kept_mb=kept_mb, start_us=start_us) as client,
    ):
        yield client


class _Client(TestClient):
    """A test client that changes threads once a request; its base class does so for each part of the answer."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(app, raise_server_exceptions=False)
        self._transport = _WholeAnswers(self)


class _WholeAnswers(httpx2.BaseTransport):
    """Calls the app of a test client in the client's event loop, and waits for the end of the answer."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self._to_app = httpx2.ASGITransport(client.app, raise_app_exceptions=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        assert self._client.portal is not None, "the client is not started"
        return self._client.portal.call(self._answer, request)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._to_app.handle_async_request(request)
        body = httpx2.ByteStream(await response.aread())
        return httpx2.Response(response.status_code, headers=response.headers, stream=body)


@cache
def _new_store() -> bytes:
    """The file of a new store: to create it takes four times as long as to copy it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "headwater.db"
        SqliteStore(file).close()
        return file.read_bytes()


def event(**changes: object) -> dict[str, Any]:
    """A START of the run `RUN` of the job etl/load, with some members changed."""
    return {
        "eventType": "START",
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "run": {"runId": RUN},
        "job": {"namespace": "etl", "name": "load"},
        "inputs": [],
        "outputs": [],
        **changes,
    }


def without_run(event: Body) -> Body:
    """What is left of an event of a run when it declares its job, or its dataset, instead."""
    return {member: value for member, value in event.items() if member not in ("run", "eventType")}


def facet(**members: object) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"{PRODUCER}/facet.json", **members}


def dataset(name: str, namespace: str = "lake", /, **facets: object) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "facets": facets}


def schema(*columns: str) -> dict[str, Any]:
    return facet(fields=[{"name": column, "type": "int"} for column in columns])


def post(client: TestClient, *events: object) -> None:
    """Post events that must all be stored."""
    for each in events:
        response = client.post("/api/v1/lineage", content=json.dumps(each))
        assert response.status_code == 201, response.text


def get(client: TestClient, path: str) -> Body:
    """The body of the response to a read that must succeed."""
    response = client.get(path)
    assert response.status_code == 200, f"{path}: {response.text}"
    body: Body = response.json()
    return body
