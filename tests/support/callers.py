"""Callers of a service with access control, and their API keys."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from starlette.testclient import TestClient

from headwater.access.entrance import Entrance
from headwater.access.operator import operator_token
from headwater.access.policy import Policy
from headwater.store.sqlite import SqliteStore
from tests.support.app import LOG_KEY, START_US, Response, serving


class Caller:
    """Sends requests with a caller's token, if any."""

    def __init__(self, client: TestClient, token: str | None) -> None:
        self._client = client
        self.token = token

    def __call__(self, method: str, path: str, **arguments: object) -> Response:
        headers = {} if self.token is None else {"authorization": f"Bearer {self.token}"}
        return self._client.request(method, path, headers=headers, **cast(Any, arguments))


def caller(admin: Caller, *roles: str, scopes: tuple[str, ...] = ("etl", "lake"), **members: object) -> Caller:
    """A caller with a new key of these roles and scopes; `members` are the request's other members."""
    body = {"name": str(uuid4()), "roles": roles, "scopes": scopes, **members}
    created = admin("POST", "/api/v1/access/keys", json=body)
    assert created.status_code == 201, created.text
    return Caller(admin._client, created.json()["secret"])


def post(sender: Caller, *events: object) -> list[int]:
    """Post events; returns the status of each answer."""
    return [sender("POST", "/api/v1/lineage", content=json.dumps(each)).status_code for each in events]


def operator(client: TestClient, now_us: int = START_US) -> Caller:
    """The operator of the service, who may do everything; the token is valid for a minute."""
    return Caller(client, operator_token(LOG_KEY, "ann", now_us))


@contextmanager
def guarded(folder: Path, rules: str = "", start_us: int = START_US) -> Iterator[Caller]:
    """The operator of a service with access control over the store in a folder; `rules` are its own, in Cedar."""
    with (
        closing(SqliteStore(folder / "headwater.db")) as store,
        serving(store, entrance=Entrance(Policy(rules)), start_us=start_us) as client,
    ):
        yield operator(client, start_us)
