"""A database that fails while an event is learned: the event is acknowledged once answers include it."""

from contextlib import closing
from pathlib import Path
from typing import Any

from headwater.errors import UnavailableError
from headwater.store.sqlite import SqliteStore
from tests.support.app import dataset, event, get, post, serving
from tests.support.reads import read_everything, without_members
from tests.support.service import eventually


class UnreadableStore(SqliteStore):
    """A store that stores events, and whose reads fail while `is_unreadable`."""

    is_unreadable = False

    def _read_content_body(self, digest: bytes) -> bytes:
        if self.is_unreadable:
            raise UnavailableError("the database does not answer")
        return super()._read_content_body(digest)


def declared(second: int, *inputs: str) -> dict[str, Any]:
    job = {"namespace": "etl", "name": "load"}
    named = [dataset(name) for name in inputs]
    return {"eventTime": f"2026-05-22T14:23:{second:02d}Z", "producer": "p", "job": job, "inputs": named, "outputs": []}


def test_an_event_that_could_not_be_learned_is_acknowledged_only_once_it_is(tmp_path: Path) -> None:
    with closing(UnreadableStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        post(client, declared(1, "before"))
        get(client, "/api/v1/jobs")
        store.content.cache_clear()

        store.is_unreadable = True
        refused = client.post("/api/v1/lineage", json=declared(2, "after"))
        behind = client.post("/api/v1/lineage", json=event())
        again = client.post("/api/v1/lineage", json=declared(2, "after"))
        health = client.get("/healthz")
        store.is_unreadable = False
        assert eventually(lambda: client.get("/healthz").status_code == 200, within_s=60)
        acknowledged = client.post("/api/v1/lineage", json=declared(2, "after"))
        live = read_everything(client)

    with closing(SqliteStore(tmp_path / "headwater.db")) as reopened, serving(reopened) as client:
        after_restart = read_everything(client)

    assert [each.status_code for each in (refused, behind, again, health)] == [503] * 4
    assert health.json()["status"] == "entry 1 of the log is not in answers yet: the database did not answer; try again"
    assert acknowledged.status_code == 200
    assert without_members(live, {"refused"}) == without_members(after_restart, {"refused"})
