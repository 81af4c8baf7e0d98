"""The log as of a time: which events count, and that they are counted apart from other requests."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headwater.store.reader import Reader
from headwater.store.sqlite import SqliteStore
from tests.support.app import Body, get, post, serving
from tests.support.lineage_events import run_event

THEN = "2026-05-22T14:23:05Z"


def of(namespace: str, run: str, kind: str, second: int) -> Body:
    return run_event(run, kind, second, job={"namespace": namespace, "name": "load"})


class Watched(SqliteStore):
    """A store that notes by which threads further readers were opened."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.opened: list[str] = []

    def another_reader(self) -> Reader:
        """As in any open store; notes the first word of the thread's name."""
        self.opened.append(threading.current_thread().name.partition("_")[0])
        return super().another_reader()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Watched]:
    with closing(Watched(tmp_path / "headwater.db")) as store:
        yield store


@pytest.fixture
def client(store: Watched) -> Iterator[TestClient]:
    with serving(store) as client:
        yield client


def test_events_of_a_namespace_count_as_of_a_time_by_the_jobs_that_their_runs_had_then(client: TestClient) -> None:
    events = [of("a", "stays", "START", 1), of("a", "leaves", "START", 2), of("b", "comes", "START", 3)]
    later = [of("b", "leaves", "COMPLETE", 8), of("a", "comes", "COMPLETE", 9)]
    post(client, *events, *later)
    before = {each: get(client, f"/api/v1/events/{each}?asOf={THEN}") for each in ("a", "b")}

    post(client, late := of("b", "late", "COMPLETE", 4))

    after = {each: get(client, f"/api/v1/events/{each}?asOf={THEN}") for each in ("a", "b")}
    assert before["a"] == after["a"] == {"events": [events[1], events[0]], "totalCount": 2}
    assert before["b"] == {"events": [events[2]], "totalCount": 1}
    assert after["b"] == {"events": [late, events[2]], "totalCount": 2}
    assert get(client, "/api/v1/events/b")["totalCount"] == 3


def test_events_of_a_namespace_as_of_a_time_are_counted_once_and_by_a_reader_of_another_thread(
    store: Watched, client: TestClient
) -> None:
    post(client, of("a", "one", "START", 1), of("a", "two", "START", 9))
    get(client, f"/api/v1/namespaces/a/jobs?asOf={THEN}")  # builds the past
    store.opened.clear()

    counts = [get(client, f"/api/v1/events/a?asOf={THEN}")["totalCount"] for _ in range(2)]

    assert counts == [1, 1]
    assert store.opened == ["asyncio"]
