"""Root causes that lie far back: hundreds of runs ago, weeks ago, or in the same hours of earlier days."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, facet, get, served
from tests.support.days import COLUMNS, read, written
from tests.support.hours import Events, ran


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        yield client


def batch(client: TestClient, events: Events) -> None:
    for first in range(0, len(events), 200):
        response = client.post("/api/v1/lineage/batch", json=events[first : first + 200])
        assert response.json()["summary"]["failed"] == 0, response.text


def ask(client: TestClient, node_id: str = "dataset:lake:mart", **query: str) -> Body:
    return get(client, f"/api/v1/root-cause?{urlencode({'nodeId': node_id, **query})}")


def loaded(hour: float, *, rows: int | None = None, amount: str = "double", code: str = "a", **more: Any) -> Events:
    columns = COLUMNS | {"amount": amount}
    return ran(
        "load",
        hour,
        [],
        [written("raw", rows, columns=columns)],
        job_facets={"sourceCodeLocation": facet(type="git", url="https://example.org/code", version=code)},
        **more,
    )


def reported(hour: float) -> Events:
    return ran("report", hour, [read("raw")], [written("mart")])


# Hundreds of runs ago


def test_what_was_read_is_examined_although_its_job_has_run_hundreds_of_times_since(client: TestClient) -> None:
    before = [each for place in range(20) for each in loaded(place / 10, amount="double" if place < 19 else "string")]
    since = [each for place in range(20, 240) for each in loaded(place / 10, amount="string")]
    batch(client, [*before, *reported(1.99), *since])

    answer = ask(client)

    assert [(each["kind"], each["score"], each["runs"][0]) for each in answer["findings"]] == [
        ("schema-change", 0.85, "load-1.9")
    ]
    assert [each["comparedWith"] for each in answer["lookedAt"]] == [0, 10]
