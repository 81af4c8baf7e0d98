"""The stream of changes ends once its listener would no longer be admitted."""

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from anyio import Event
from starlette.testclient import TestClient

from headwater.access.entrance import Entrance
from headwater.access.operator import operator_token
from headwater.access.policy import Policy
from headwater.store.sqlite import SqliteStore
from tests.support.app import LOG_KEY, START_US, event, serving
from tests.support.callers import Caller, caller


class Listener:
    """Reads the stream as one caller, until it ends."""

    def __init__(self, client: TestClient, caller: Caller) -> None:
        self._app = client.app
        self._headers = [(b"authorization", f"Bearer {caller.token}".encode())]
        self.received: list[bytes] = []

    async def listen(self) -> None:
        scope = {"type": "http", "method": "GET", "path": "/api/v1/stream", "raw_path": b"/api/v1/stream",
                 "root_path": "", "query_string": b"", "headers": self._headers, "http_version": "1.1",
                 "scheme": "http", "server": ("headwater", 80), "client": None}  # fmt: skip

        async def send(message: Any) -> None:  # noqa: ANN401  ASGI
            self.received += [message["body"]] if message.get("body") else []

        await self._app(scope, Event().wait, send)  # type: ignore[arg-type]


def test_a_stream_ends_when_its_key_is_revoked_and_sends_nothing_more(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "headwater.db")
    with closing(store), serving(store, entrance=Entrance(Policy(""))) as client:
        admin = Caller(client, operator_token(LOG_KEY, "ann", START_US))
        reader, other = (caller(admin, "read", scopes=("*",), name=name) for name in ("reader", "other"))
        gone, stays = Listener(client, reader), Listener(client, other)
        assert client.portal is not None
        ends, goes_on = (client.portal.start_task_soon(each.listen) for each in (gone, stays))
        while not (gone.received and stays.received):
            time.sleep(0.01)

        assert admin("DELETE", "/api/v1/access/keys/reader").status_code == 200
        time.sleep(1.1)
        for job in ("first", "second"):
            body = event(job={"namespace": "secret", "name": job}, run={"runId": job})
            assert admin("POST", "/api/v1/lineage", content=json.dumps(body)).status_code == 201

        ends.result(timeout=60)
        assert not goes_on.done()
        client.app.state.service.feed.close()  # type: ignore[attr-defined]
        goes_on.result(timeout=60)

    assert b"job:secret:first" not in b"".join(gone.received)
    assert b"job:secret:second" in b"".join(stays.received)
