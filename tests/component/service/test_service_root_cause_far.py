"""Root causes that lie far back: hundreds of runs ago, weeks ago, or in the same hours of earlier days."""

from collections.abc import Iterator
from pathlib import Path
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


def loaded(hour: float, *, rows: int | None = None, amount: str = "double", code: str = "a") -> Events:
    columns = COLUMNS | {"amount": amount}
    return ran(
        "load",
        hour,
        [],
        [written("raw", rows, columns=columns)],
        job_facets={"sourceCodeLocation": facet(type="git", url="https://example.org/code", version=code)},
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


# Weeks ago

HOURS = 24 * 30
"""The last hour of the hourly job, a month after the first."""


@pytest.mark.parametrize("since", [HOURS - 11, HOURS - 12, HOURS - 100, HOURS - 27 * 24])
def test_what_changed_at_any_run_of_four_weeks_is_found_at_that_run(client: TestClient, since: int) -> None:
    hours = range(HOURS - 28 * 24 - 5, HOURS + 1)
    batch(client, [each for hour in hours for each in loaded(hour, code="a" if hour < since else "b")])

    answer = ask(client, "dataset:lake:raw")

    (finding,) = answer["findings"]
    assert finding["words"] == "load: the version of the code changed from a to b"
    assert (finding["score"], finding["runs"]) == (0.15, [f"load-{since}", f"load-{since - 1}", f"load-{HOURS}"])


def test_what_changed_before_the_last_four_weeks_or_came_back_is_no_finding(client: TestClient) -> None:
    old = [each for hour in range(2) for each in loaded(hour, code="old")]
    hours = range(HOURS - 28 * 24, HOURS + 1, 3)
    batch(client, [*old, *(each for hour in hours for each in loaded(hour, code="b" if 300 < hour < 350 else "a"))])

    assert ask(client, "dataset:lake:raw")["findings"] == []


def test_for_a_weekly_reader_a_change_a_hundred_runs_ago_is_news(client: TestClient) -> None:
    hours = range(24 * 9)
    loads = [each for hour in hours for each in loaded(hour, code="a" if hour < 100 else "b")]
    batch(client, [*loads, *reported(24.5), *reported(8 * 24 + 0.5)])

    (finding,) = ask(client)["findings"]

    assert (finding["kind"], finding["score"], finding["runs"][0]) == ("code-change", 0.6, "load-100")
